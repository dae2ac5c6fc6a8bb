import { keptBodyBytesMax, type PreparedFile } from "./encoded-file.ts";

/** Prepared files by URL path, the oldest given up first when they weigh too much. */
export type KeptFiles = {
  get(urlPath: string): PreparedFile | undefined;
  set(urlPath: string, file: PreparedFile): void;
  delete(urlPath: string): void;
};

export function keepFiles(bytesMax: number): KeptFiles {
  const kept = new Map<string, PreparedFile>();
  let bytes = 0;
  const forget = (urlPath: string) => {
    const one = kept.get(urlPath);
    if (one === undefined) return;
    kept.delete(urlPath);
    bytes -= weightOf(one);
  };
  return {
    get: (urlPath) => kept.get(urlPath),
    set: (urlPath, file) => {
      forget(urlPath);
      for (const oldest of kept.keys()) {
        if (bytes + weightOf(file) <= bytesMax) break;
        forget(oldest);
      }
      kept.set(urlPath, file);
      bytes += weightOf(file);
    },
    delete: forget,
  };
}

const headersBytes = 1_024;

/** Its content, the compressed forms that may join it (about a third each), and its headers. */
const weightOf = ({ file }: PreparedFile): number =>
  headersBytes + (file.size <= keptBodyBytesMax ? file.size * 1.7 : 0);
