import fetching from "#content/editorial/fetching.json";
import registers from "#content/editorial/registers.json";
import { boundedText, fetchPlain } from "#content/runtime/plain-fetch.ts";
import { FetchFailed, type FetchOptions } from "./fetch-file.ts";
import type { ImportRequest } from "./run-import.ts";

/** Of a register whose files a page links to: the pattern of their addresses, the year first. */
type FileList = { page: string; names: string };
const lists: Readonly<Record<string, FileList>> = fetching.lists;

/** Whether a register's files are tables that are read beside one another. */
export const isTogether = (register: string): boolean =>
  registers.some((entry) => entry.id === register && "together" in entry);

/** Whether a register has many files that stand for themselves: each is fetched, imported and removed before the next. */
export const isList = (register: string): boolean => Object.hasOwn(lists, register);

/** The registers whose files can be fetched from where they are published. */
export const publishedRegisters = registers.flatMap(({ id, files }) =>
  files.length > 0 || isList(id) ? [id] : [],
);

const countries: Readonly<Record<string, string[]>> = fetching.countries;
export const countryNames = Object.keys(countries);

/** What a name asks for: the one register, or those of a country, in the order in which they are fetched. */
export const registersOf = (name: string): string[] => countries[name] ?? [name];

export type FetchRequest = Omit<ImportRequest, "files" | "fetched"> & {
  /** Stands in place of the publishers' own origins, for a mirror; undefined for theirs. */
  origin: string | undefined;
  /** How many of the newest years are taken of a list. */
  years: number;
  /** Only these of the register's files. Default: all. */
  urls?: string[];
  /** How patient a try is; for tests. */
  patience?: Pick<FetchOptions, "stallMs" | "totalMs" | "bytesMax" | "triesMax" | "firstWaitMs">;
};

/** The addresses of a register's files as they are published now, of a list those of newer years first. Throws FetchFailed. */
export async function publishedFiles(register: string, request: FetchRequest): Promise<string[]> {
  const list = lists[register];
  const registerFiles = registers.find(({ id }) => id === register)?.files ?? [];
  const files = list ? await listedFiles(list, request) : registerFiles;
  return files.map((url) => at(url, request.origin));
}

const pageBytesMax = 2 * 2 ** 20;
const pageMs = 60_000;

/** The page may link to other hosts and folders as it likes: only whole addresses of the pattern count. */
async function listedFiles(list: FileList, request: FetchRequest): Promise<string[]> {
  const { origin, clock, signal, years } = request;
  const either = AbortSignal.any([signal, AbortSignal.timeout(pageMs)]);
  const page = await fetchPlain(at(list.page, origin), { signal: either })
    .then((answer) => boundedText(answer, pageBytesMax))
    .catch(() => "");
  const links = [...page.matchAll(/\bhref\s*=\s*["']([^"'\s]{1,300})["']/gi)].map(
    ([, link = ""]) => URL.parse(link, list.page)?.href ?? "",
  );
  const names = new RegExp(list.names);
  const byYear = Map.groupBy(new Set(links), (url) => Number(names.exec(url)?.[1] ?? Infinity));
  const past = [...byYear.keys()].filter((year) => year <= clock().getUTCFullYear());
  const newest = past.sort((a, b) => b - a).slice(0, years);
  if (newest.length > 0) return newest.flatMap((year) => byYear.get(year) ?? []);
  throw new FetchFailed(`${list.page}: it did not answer, or links to no such file`);
}

/** A published address, at another origin where one is set. */
function at(url: string, origin: string | undefined): string {
  const { pathname, search } = new URL(url);
  return origin === undefined ? url : `${origin}${pathname}${search}`;
}
