/** Sources the language refuses, each with the place of the fault and a piece of what was expected and found there. */

interface BadSource {
  readonly source: string;
  /** `line:column`, both from 1. */
  readonly at: string;
  readonly expected: string;
  readonly found: string;
}

function bad(source: string, at: string, expected: string, found: string): BadSource {
  return { source, at, expected, found };
}

const end = "the end of the expression";
const field = 'a field, NOT or "("';

export const badSources: readonly BadSource[] = [
  // Nothing, or half of something.
  bad("", "1:1", field, end),
  bad(" \n ", "2:2", field, end),
  bad("score", "1:6", "an operator of score", end),
  bad("score <", "1:8", "an integer", end),
  bad("score < 30 AND", "1:15", field, end),
  bad("NOT", "1:4", field, end),
  bad("AND score < 30", "1:1", field, "AND"),
  bad("score < 30 OR OR score < 2", "1:15", field, "OR"),
  bad("30 > score", "1:1", field, "30"),
  bad("true", "1:1", field, "true"),
  bad('in {"a"}', "1:1", field, "in"),
  bad("score < 30 score < 40", "1:12", "AND, OR or the end", "score"),
  bad('path == "a" "b"', "1:13", "AND, OR or the end", '"b"'),
  bad("verified_bot verified_bot", "1:14", "AND, OR or the end", "verified_bot"),

  // Parentheses and braces.
  bad("(score < 30", "1:12", 'AND, OR or ")"', end),
  bad("score < 30)", "1:11", "AND, OR or the end", ")"),
  bad("()", "1:2", field, ")"),
  bad("((score < 30) AND (verified_bot)", "1:33", 'AND, OR or ")"', end),
  bad("score in {}", "1:11", "an integer", "}"),
  bad("score in {1,}", "1:13", "an integer", "}"),
  bad("score in {1 2}", "1:13", '"," or "}"', "2"),
  bad("score in {1", "1:12", '"," or "}"', end),
  bad("score in 1", "1:10", '"{"', "1"),
  bad("score in (1, 2)", "1:10", '"{"', "("),

  // Characters and tokens outside the grammar.
  bad("score = 30", "1:7", '"=="', "="),
  bad("score === 30", "1:9", '"=="', "="),
  bad("!verified_bot", "1:1", '"!=" or NOT', "!"),
  bad("score < 30 && verified_bot", "1:12", "AND", "&"),
  bad("score < 30 || verified_bot", "1:12", "OR", "|"),
  bad("path == '/a'", "1:9", "double quotes", "'"),
  bad("score < 30; verified_bot", "1:11", "a field, an operator", ";"),
  bad("score\u00a0< 30", "1:6", "a field, an operator", "U+00A0"),
  bad("score < 30\u0000", "1:11", "a field, an operator", "U+0000"),
  bad("\ufeffscore < 30", "1:1", "a field, an operator", "U+FEFF"),
  bad("score < 30 🤖", "1:12", "a field, an operator", "🤖"),
  bad("path matches /x/", "1:6", "an operator of path", "matches"),

  // Strings.
  bad('path == "abc', "1:9", 'ends with "', '"abc'),
  bad('path == "abc\\"', "1:9", 'ends with "', '"abc'),
  bad('path == "abc\\', "1:9", 'ends with "', '"abc'),
  bad('path == "a\nb"', "1:9", 'ends with "', '"a'),
  bad('path == "a\\nb"', "1:11", "the escape", "\\n"),
  bad('path == "a\\u0041"', "1:11", "the escape", "\\u"),
  bad('path wildcard "a\\*"', "1:17", "the escape", "\\*"),
  bad('path == "\ud800"', "1:9", "well-formed Unicode", "an unpaired surrogate"),

  // Numbers.
  bad("score < 1.5", "1:9", "an integer", "1.5"),
  bad("score < 1e3", "1:9", "an integer", "1e3"),
  bad("score < 0x1F", "1:9", "an integer", "0x1F"),
  bad("score < 030", "1:9", "without leading zeros", "030"),
  bad("score < 30AND verified_bot", "1:9", "an integer", "30AND"),
  bad("score < 2147483648", "1:9", "an integer from -2147483648 to 2147483647", "2147483648"),
  bad("score < -2147483649", "1:9", "an integer from", "-2147483649"),
  bad(`score < ${"9".repeat(400)}`, "1:9", "an integer from", "999"),
  bad("detection_ids contains 99999999999", "1:24", "an integer from", "99999999999"),
  bad("score < - 5", "1:9", "a field, an operator", "-"),
  bad("score < +5", "1:9", "a field, an operator", "+"),

  // Fields.
  bad("colour < 30", "1:1", "a known field (score, band", "colour"),
  bad("scores < 30", "1:1", "a known field (did you mean score?)", "scores"),
  bad('band == "definit"', "1:9", '(did you mean "definite"?)', "definit"),
  bad("cleared AND band == Definite", "1:21", '(did you mean "definite"?)', "Definite"),
  bad('path startswith "/a"', "1:6", "(did you mean starts_with?)", "startswith"),
  bad('action == "block"', "1:1", "a field of rules (action is what rules decide: only searches have it)", "action"),
  bad("Score < 30", "1:1", "a known field", "Score"),
  bad("logged_in", "1:1", "a known field", "logged_in"),
  bad("logged_in_at > 5", "1:1", "a known field", "logged_in_at"),
  bad("__proto__ == 1", "1:1", "a known field", "__proto__"),
  bad("constructor", "1:1", "a known field", "constructor"),
  bad("toString == 1", "1:1", "a known field", "toString"),
  bad("hasOwnProperty", "1:1", "a known field", "hasOwnProperty"),

  // Types.
  bad('path < "a"', "1:6", "an operator of path", "<"),
  bad("path == 5", "1:9", "a string", "5"),
  bad("path == true", "1:9", "a string", "true"),
  bad("path", "1:5", "an operator of path", end),
  bad("score contains 5", "1:7", "an operator of score", "contains"),
  bad('score == "5"', "1:10", "an integer", '"5"'),
  bad("score == true", "1:10", "an integer", "true"),
  bad("score == score", "1:10", "an integer", "score"),
  bad("verified_bot < true", "1:14", "an operator of verified_bot", "<"),
  bad("verified_bot in {true}", "1:14", "an operator of verified_bot", "in"),
  bad("verified_bot == 1", "1:17", "true or false", "1"),
  bad('verified_bot == "true"', "1:17", "true or false", '"true"'),
  bad("verified_bot == TRUE", "1:17", "true or false", "TRUE"),
  bad('band == "definitely"', "1:9", '"definite"', '"definitely"'),
  bad('band == "Definite"', "1:9", '"definite"', '"Definite"'),
  bad('band > "definite"', "1:6", "an operator of band", ">"),
  bad('band in {"definite", "human"}', "1:22", '"likely_human"', '"human"'),
  bad('band contains "auto"', "1:6", "an operator of band", "contains"),
  bad('verified_bot_category == "toString"', "1:26", '"search"', '"toString"'),
  bad("detection_ids == 100101", "1:15", "an operator of detection_ids", "=="),
  bad('detection_ids contains "100101"', "1:24", "an integer", '"100101"'),
  bad("detection_ids", "1:14", "an operator of detection_ids", end),
  bad('ip < "1.2.3.4"', "1:4", "an operator of ip", "<"),
  bad('ip contains "1.2"', "1:4", "an operator of ip", "contains"),
  bad("ip == 1", "1:7", "an address", "1"),
  ...[
    "",
    "1.2.3",
    "1.2.3.256",
    "01.2.3.4",
    "0x1.2.3.4",
    "1.2.3.4/33",
    "1.2.3.4/",
    "1.2.3.4/024",
    "1.2.3.4/-1",
    "1.2.3.4/24/8",
    "1.2.3.4 ",
    "1.2.3.4:80",
    "[::1]",
    "fe80::1%eth0",
    "::1/129",
    "1::2::3",
    "::ffff:1.2.3.4/95",
    "localhost",
    "*",
  ].map((address) => bad(`ip == "${address}"`, "1:7", "an address or CIDR range", `"${address}"`)),

  // Places in longer texts; a line ends with LF, CR LF or CR, an astral character is one column.
  bad('score < 30 AND\npath == "/a" AND\n  bogus == 1', "3:3", "a known field", "bogus"),
  bad('score < 30 AND\r\npath == "/a" AND\r  bogus == 1', "3:3", "a known field", "bogus"),
  bad('path == "🤖🤖" AND bogus', "1:18", "a known field", "bogus"),
  // The first fault is the one told, whatever comes after it.
  bad('bogus == "abc', "1:1", "a known field", "bogus"),
];
