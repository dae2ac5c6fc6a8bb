/** What differs between two runs of the same code on copies of one directory: instants, random ids, secrets and signatures. */
const changing: readonly (readonly [RegExp, string])[] = [
  [/\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?/g, "<time>"],
  [/\b20\d\d-\d\d-\d\d\b/g, "<day>"],
  [
    /\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) 20\d\d/g,
    "<day>",
  ],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<uuid>"],
  [/(?:"memo": ?"|memo(?:=|%3D))[\w-]+/g, "<memo>"],
  [/\b(?:onboarding|correction|prose|draft)(?:-|:\d{15}\.|:\d{13}\.)[0-9a-f]{20}\b/g, "<id>"],
  [/"submission_id":"[0-9a-f]{20}"/g, "<id>"],
  [/"correction_id": ?"[0-9a-f]{20}"/g, "<id>"],
  // What the log has in the place of a client's address.
  [/"client": ?"[\w-]{22}"|(?<=dir="auto">)[\w-]{22}(?=<)/g, "<client>"],
  [/change\/\d+(?=<)/g, "<change>"],
  [/Release \d+\. Profiles are [^<]*|profiles opened: \d+/g, "<progress>"],
  [/agent_[\w-]{20,}/g, "<secret>"],
  [/\b[A-Za-z0-9_-]{86,}\b={0,2}/g, "<signed>"],
  [/(?:[A-Za-z0-9+/_-]|%3D|=){43,}/g, "<long>"],
  [/\b[1-9A-HJ-NP-Za-km-z]{32,44}\b/g, "<key>"],
  [
    /"(?:retry_after_s|free_bytes|took_ms|uptime_s|age_s|pid|seen_at_ms|sequence|change_sequence|newest_change|profiles_behind|lists_behind|oldest_waiting_s|files|release|bytes|memory_bytes|lastmod|size|documents)": ?"?[\w.]+"?/g,
    "<number>",
  ],
  [/^(\w+(?:\{[^\n]*\})?) [\d.e+-]+$/gm, "$1 <number>"],
  [/\b\d+ sign-ins of operators failed/g, "<sign-ins>"],
  [/\b\d+ (?:seconds?|minutes?|hours?|ms)\b/g, "<duration>"],
];

/** A text without what changes by itself from run to run. */
export const steady = (text: string): string =>
  changing.reduce((rest, [pattern, mark]) => rest.replaceAll(pattern, mark), text);
