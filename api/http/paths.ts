type Route = { method: string; path: string };

/** Which methods a path knows; empty for an unknown path. HEAD goes with GET, OPTIONS with everything. */
export function methodsByPath(routes: readonly Route[]): (path: string) => string[] {
  const known = [...Map.groupBy(routes, (route) => route.path)].map(([path, same]) => ({
    fits: patternOf(path),
    methods: same.map(({ method }) => method.toUpperCase()),
  }));
  return (path) => {
    const methods = new Set(
      known.filter(({ fits }) => fits.test(path)).flatMap((route) => route.methods),
    );
    if (methods.size === 0) return [];
    if (methods.delete("ALL")) for (const method of ["GET", "POST"]) methods.add(method);
    if (methods.has("GET")) methods.add("HEAD");
    return [...methods, "OPTIONS"].sort();
  };
}

function patternOf(path: string): RegExp {
  const parts = path.split("/").map((part) => {
    if (part === "*") return ".*";
    if (part.startsWith(":")) return "[^/]+";
    return part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join("/")}/?$`);
}

/** The path of an absolute URL, still encoded; "" when it holds escapes that are no UTF-8. */
export function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  if (start === -1) return "/";
  const end = url.slice(start).search(/[?#]/);
  const path = end === -1 ? url.slice(start) : url.slice(start, start + end);
  if (!path.includes("%")) return path;
  try {
    decodeURIComponent(path);
    return path;
  } catch {
    return "";
  }
}
