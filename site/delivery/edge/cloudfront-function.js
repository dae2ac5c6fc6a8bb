// CloudFront function for viewer requests, before a bucket filled by `bun run publish --to s3://…`: addresses to keys.
// The same rules as filePathsFor in site/delivery/http-headers.ts. Runtime cloudfront-js-2.0,
// whose list of what it understands names no destructuring, spread or short form of members.
const moved = [
  // From the table of addresses: where pages are now
  [/^\/nonprofits\/([\w.~-]+)\/history$/, "/history/$1"],
  [/^\/api\/nonprofits\/([\w.~-]+)\/history$/, "/api/history/$1"],
  [/^\/causes\/([\w.~-]+)\/([\w.~-]+)$/, "/causes/$1-$2"],
  [/^\/countries\/([\w.~-]+)\/([\w.~-]+)$/, "/countries/$1-$2"],
  [/^\/pictures\/nonprofits\/.*$/, "/pictures/home.png"],
  [/^\/pictures\/countries\/.*$/, "/pictures/home.png"],
  // End of it
];
const narrows = [
  // From the table of addresses: what narrows a list
  "cause",
  "country",
  "region",
  "city",
  "claimed",
  "accepts",
  "has_website",
  "income",
  "ghd_aligned",
  "sort",
  "page",
  // End of it
];
// From the table of addresses: pages of a list that are files
const pagesMax = 10;
// End of it

// oxlint-disable-next-line no-unused-vars
function handler(event) {
  const request = event.request;
  const uri = request.uri;
  if (/^(\/[\w.-]+)+\/$/.test(uri)) {
    const query = Object.keys(request.querystring)
      .map((name) => name + "=" + request.querystring[name].value)
      .join("&");
    return redirect(301, "Moved Permanently", uri.slice(0, -1) + (query && "?" + query));
  }
  const known = moved.find((entry) => entry[0].test(uri));
  if (known) {
    return redirect(308, "Permanent Redirect", uri.replace(known[0], known[1]));
  }
  const location = browsed(uri, request.querystring);
  if (location) {
    return redirect(302, "Found", location);
  }
  request.uri = uri.startsWith("/countries/") ? uri.toLowerCase() : uri;
  if (uri === "/") {
    request.uri = "/index.html";
  } else if (!uri.slice(uri.lastIndexOf("/")).includes(".") && !uri.startsWith("/.well-known/")) {
    request.uri += uri.startsWith("/api/") ? ".json" : ".html";
  }
  return request;
}

// Where the service shows a part of a list, or a page of it that is no file.
function browsed(uri, query) {
  const parts = /^\/(causes|countries)\/([A-Za-z-]+?)(?:-(\d+))?$/.exec(uri) || [];
  const kind = parts[1];
  const page = parts[3];
  const asked = narrows.filter((name) => query[name]);
  if (!kind || (asked.length === 0 && !(Number(page) > pagesMax))) {
    return null;
  }
  const own = page ? { page: page } : {};
  own[kind === "causes" ? "cause" : "country"] = parts[2];
  const others = asked.filter((name) => !own[name]).map((name) => name + "=" + query[name].value);
  const all = Object.keys(own)
    .map((name) => name + "=" + own[name])
    .concat(others);
  return "/browse?" + all.join("&");
}

function redirect(statusCode, statusDescription, location) {
  return {
    statusCode: statusCode,
    statusDescription: statusDescription,
    headers: { location: { value: location } },
  };
}
