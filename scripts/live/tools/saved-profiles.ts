/** Profiles of people who let their browser keep passwords and addresses, made with the browsers' own stores and filled in by nobody but the browser. */
import { createCipheriv, pbkdf2Sync } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { awaitOutput, endChild, startChild } from "../child-process.js";
import { programs, quietArgs } from "../chromium.js";
import type { Display } from "../display.js";
import { pause } from "../pause.js";

const storeMsMax = 60_000;

/** Passwords are kept by a key that Chromium has for systems without a keyring. */
export const savedArgs: readonly string[] = ["--password-store=basic"];

/** As Chromium keeps a password on Linux without a keyring. */
function kept(password: string): string {
  const cipher = createCipheriv(
    "aes-128-cbc",
    pbkdf2Sync("peanuts", "saltysalt", 1, 16, "sha1"),
    Buffer.alloc(16, " "),
  );
  return Buffer.concat([Buffer.from("v10"), cipher.update(password), cipher.final()]).toString("hex");
}

/** Runs SQL on a database by Python, whose SQLite needs no package. */
async function execute(file: string, sql: string): Promise<void> {
  const script = `import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as store: store.executescript(sys.argv[2])
print("done", flush=True)`;
  const child = startChild(programs.python3, ["-c", script, file, sql]);
  await awaitOutput(child, /done/, storeMsMax);
}

/** Chromium lays its stores when it first starts. */
async function layStores(folder: string, display: Display): Promise<void> {
  const args = [...quietArgs, ...savedArgs, `--user-data-dir=${folder}`, "about:blank"];
  const child = startChild(programs.chromium, args, { env: { ...process.env, DISPLAY: display.name } });
  const files = ["Login Data", "Web Data", "Preferences"].map((name) => join(folder, "Default", name));
  for (let waited = 0; waited < storeMsMax && !files.every((file) => existsSync(file)); waited += 200) await pause(200);
  // The tables come a moment after the file.
  await pause(2500);
  await endChild(child);
}

const now = 13_380_000_000_000_000n;

/** Makes `folder` a profile of Chromium with a password for `origin` and an address. */
export async function fillChromium(folder: string, display: Display, origin: string): Promise<void> {
  await layStores(folder, display);
  const at = join(folder, "Default");
  await execute(
    join(at, "Login Data"),
    `INSERT INTO logins (origin_url, action_url, username_element, username_value, password_element, password_value, submit_element, signon_realm,
      date_created, blacklisted_by_user, scheme, password_type, times_used, form_data, display_name, icon_url, federation_url, skip_zero_click,
      generation_upload_status, possible_username_pairs) VALUES ('${origin}/enter', '${origin}/enter', 'mail', 'ada@mail.example', 'secret',
      X'${kept("brass0wl-17")}', '', '${origin}/', ${now}, 0, 0, 0, 3, X'', '', '', '', 0, 0, X'');`,
  );
  const tokens = {
    7: "Ada Bell",
    3: "Ada",
    5: "Bell",
    77: "12 Mill Lane",
    30: "12 Mill Lane",
    33: "Norwich",
    36: "GB",
    9: "ada@mail.example",
  };
  await execute(
    join(at, "Web Data"),
    `INSERT INTO addresses (guid, use_count, use_date, date_modified, language_code, label, initial_creator_id, record_type)
      VALUES ('a1b2c3d4-0000-4000-8000-000000000001', 9, 1790000000, 1790000000, 'en', '', 70073, 0);
    ${Object.entries(tokens)
      .map(
        ([type, value]) =>
          `INSERT INTO address_type_tokens VALUES ('a1b2c3d4-0000-4000-8000-000000000001', ${type}, '${value}', 3, NULL);`,
      )
      .join("\n")}`,
  );
}

/** Encrypts a text as Firefox keeps logins, by its own library in a new store of keys. */
const nssScript = `
import base64, ctypes, sys
nss = ctypes.CDLL(sys.argv[2])
class Item(ctypes.Structure): _fields_ = [("type", ctypes.c_uint), ("data", ctypes.c_char_p), ("len", ctypes.c_uint)]
class Out(ctypes.Structure): _fields_ = [("type", ctypes.c_uint), ("data", ctypes.c_void_p), ("len", ctypes.c_uint)]
nss.PK11_GetInternalKeySlot.restype = ctypes.c_void_p
if nss.NSS_InitReadWrite(("sql:" + sys.argv[1]).encode()): raise SystemExit("no store")
slot = ctypes.c_void_p(nss.PK11_GetInternalKeySlot())
if nss.PK11_NeedUserInit(slot): nss.PK11_InitPin(slot, None, b"")
for text in sys.argv[3:]:
    given, out = Item(0, text.encode(), len(text)), Out(0, None, 0)
    if nss.PK11SDR_Encrypt(ctypes.byref(Item(0, None, 0)), ctypes.byref(given), ctypes.byref(out), None): raise SystemExit("refused")
    print("kept", base64.b64encode(ctypes.string_at(out.data, out.len)).decode(), flush=True)
nss.NSS_Shutdown()
print("done", flush=True)
`;
const nssFile = "/usr/lib/firefox-esr/libnss3.so";

/** Why Firefox's store can't be written; null when it can. */
export const missingNss = (): string | null => (existsSync(nssFile) ? null : `${nssFile} is missing`);

/** The same in Firefox. */
export async function fillFirefox(folder: string, origin: string): Promise<void> {
  // The library finds its parts beside it.
  const env = { ...process.env, LD_LIBRARY_PATH: dirname(nssFile) };
  const child = startChild(programs.python3, ["-c", nssScript, folder, nssFile, "ada@mail.example", "brass0wl-17"], {
    env,
  });
  const [said] = await awaitOutput(child, /[\s\S]*done/, storeMsMax);
  const [user, password] = [...said.matchAll(/kept (\S+)/g)].map(([, text]) => text);
  const times = {
    timeCreated: 1790000000000,
    timeLastUsed: 1790000000000,
    timePasswordChanged: 1790000000000,
    timesUsed: 3,
  };
  const login = {
    id: 1,
    hostname: origin,
    httpRealm: null,
    formSubmitURL: origin,
    usernameField: "mail",
    passwordField: "secret",
  };
  const entry = {
    ...login,
    encryptedUsername: user,
    encryptedPassword: password,
    guid: "{a1b2c3d4-0000-4000-8000-000000000002}",
    encType: 1,
    ...times,
  };
  const logins = {
    nextId: 2,
    logins: [entry],
    potentiallyVulnerablePasswords: [],
    dismissedBreachAlertsByLoginGUID: {},
    version: 3,
  };
  writeFileSync(join(folder, "logins.json"), JSON.stringify(logins));
  const address = {
    name: "Ada Bell",
    "street-address": "12 Mill Lane",
    "address-level2": "Norwich",
    country: "GB",
    email: "ada@mail.example",
  };
  const own = {
    guid: "a1b2c3d40003",
    version: 1,
    timeCreated: 1790000000000,
    timeLastModified: 1790000000000,
    timesUsed: 1,
  };
  writeFileSync(
    join(folder, "autofill-profiles.json"),
    JSON.stringify({ version: 1, addresses: [{ ...address, ...own }], creditCards: [] }),
  );
}

/** Firefox's memory of what was written into fields of these names before. */
export function fillFirefoxHistory(folder: string, texts: Readonly<Record<string, string>>): Promise<void> {
  const rows = Object.entries(texts).map(
    ([name, text], index) =>
      `INSERT INTO moz_formhistory VALUES (${index + 1}, '${name}', '${text}', 4, 1790000000000000, 1790000000000000, 'a1b2c3d4e5f${index}');`,
  );
  return execute(
    join(folder, "formhistory.sqlite"),
    `CREATE TABLE moz_formhistory (id INTEGER PRIMARY KEY, fieldname TEXT NOT NULL, value TEXT NOT NULL, timesUsed INTEGER, firstUsed INTEGER, lastUsed INTEGER, guid TEXT);
    CREATE INDEX moz_formhistory_index ON moz_formhistory(fieldname);
    CREATE INDEX moz_formhistory_lastused_index ON moz_formhistory(lastUsed);
    CREATE UNIQUE INDEX moz_formhistory_guid_index ON moz_formhistory(guid);
    CREATE TABLE moz_deleted_formhistory (id INTEGER PRIMARY KEY, timeDeleted INTEGER, guid TEXT);
    CREATE TABLE moz_sources (id INTEGER PRIMARY KEY, source TEXT NOT NULL);
    CREATE TABLE moz_history_to_sources (history_id INTEGER, source_id INTEGER, PRIMARY KEY (history_id, source_id)) WITHOUT ROWID;
    PRAGMA user_version = 5;
    ${rows.join("\n")}`,
  );
}

/** Settings of Firefox that offer addresses in every country and language. */
export const firefoxAddressSettings = [
  `user_pref("extensions.formautofill.addresses.supported", "on");`,
  `user_pref("extensions.formautofill.addresses.enabled", true);`,
  `user_pref("extensions.formautofill.addresses.supportedCountries", "US,GB");`,
  `user_pref("signon.autofillForms.http", true);`,
  `user_pref("security.insecure_field_warning.contextual.enabled", false);`,
].join("\n");
