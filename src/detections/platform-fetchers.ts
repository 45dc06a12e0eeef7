/**
 * Parts of operating systems, browsers and office suites that fetch for the person who uses them, under names of their own: players of media, icons of
 * bookmarks, downloads, calendars, documents, checks for captive portals. They say what they are; who borrows such a name gains nothing that a text
 * browser's name would not give him, and where the fetcher has a field of its own, the name counts in it alone.
 */

interface PlatformFetcher {
  readonly agent: RegExp;
  /** What it fetches by its nature; absent: anything. */
  readonly field?: "media" | "icons";
}

/** By the documentation and sources of their makers, and requests seen. Anchored, without nested repetition: linear. */
const platformFetchers: readonly PlatformFetcher[] = [
  { agent: /^AppleCoreMedia\/\d/, field: "media" },
  { agent: /^stagefright\/\d/, field: "media" },
  { agent: /^(?:[^()]{1,80} \(Linux; ?Android [^()]*\) )?(?:ExoPlayerLib|AndroidXMedia3)\//, field: "media" },
  {
    agent: /^(?:VLC\/[\d.]+ LibVLC|NSPlayer|WMPlayer|QuickTime|SamsungPlayer|samsung-agent|Roku\/DVP)\b/,
    field: "media",
  },
  { agent: /^GStreamer (?:souphttpsrc|libsoup)/, field: "media" },
  { agent: /^(?:Mobile)?Safari\/[\d.]+ CFNetwork\/[\d.]+ Darwin\//, field: "icons" },
  { agent: /^com\.apple\.(?:WebKit\.Networking|SafariViewService|Safari\.[A-Za-z.]{1,40})\/[\d.]+ CFNetwork\// },
  { agent: /^CaptiveNetworkSupport-[\d.]+ wispr/ },
  { agent: /^Microsoft NCSI$/ },
  { agent: /^(?:iOS|macOS|Mac OS X|Mac_OS_X)\/[\d.]+ \([0-9A-Z]+\) (?:dataaccessd|CalendarAgent|remindd|accountsd)\// },
  { agent: /^AndroidDownloadManager(?:\/|$)/ },
  {
    agent:
      /^Microsoft Office(?: (?:Word|Excel|PowerPoint|Outlook|OneNote|Visio|Existence Discovery|Protocol Discovery)|\/|$)/,
  },
  { agent: /^Microsoft-WebDAV-MiniRedir\/\d/ },
  { agent: /^Microsoft BITS\/\d/ },
  { agent: /^WebDAV(?:FS|Lib)\/\d/ },
  { agent: /^gvfs\/\d/ },
];

const mediaFiles = /\.(?:mp4|m4[vas]|mov|webm|mkv|avi|mp3|aac|og[gva]|opus|flac|wav|m3u8?|mpd|ts|vtt|srt|pls)$/i;
const iconFiles = /\.(?:ico|png|svg|jpe?g|gif|webp)$/i;

/** Whether the user agent may be that of such a part: every browser's begins otherwise. */
export function mayBePlatforms(userAgent: string): boolean {
  return userAgent !== "" && !userAgent.startsWith("Mozilla/");
}

/** Whether the user agent is that of such a part, and the request one that it makes. `path` and `range` are "" if they did not come. */
export function isPlatformFetch(userAgent: string, path: string, range: string): boolean {
  if (!mayBePlatforms(userAgent)) return false;
  const fetcher = platformFetchers.find(({ agent }) => agent.test(userAgent));
  if (fetcher === undefined) return false;
  if (fetcher.field === "media") return range !== "" || mediaFiles.test(path);
  return fetcher.field === undefined || iconFiles.test(path);
}
