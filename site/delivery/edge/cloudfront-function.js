// CloudFront function for viewer requests, before a bucket filled by `bun run publish --to s3://…`: addresses to keys.
// The same rules as filePathsFor in site/delivery/http-headers.ts. Runtime cloudfront-js-2.0.
// oxlint-disable-next-line no-unused-vars
function handler(event) {
  const request = event.request;
  const uri = request.uri;
  if (/^(\/[\w.-]+)+\/$/.test(uri)) {
    return {
      statusCode: 301,
      statusDescription: "Moved Permanently",
      headers: { location: { value: uri.slice(0, -1) } },
    };
  }
  if (/^\/pictures\/(nonprofits|countries)\//.test(uri)) {
    return {
      statusCode: 308,
      statusDescription: "Permanent Redirect",
      headers: { location: { value: "/pictures/home.png" } },
    };
  }
  if (uri === "/") {
    request.uri = "/index.html";
  } else if (!uri.slice(uri.lastIndexOf("/")).includes(".") && !uri.startsWith("/.well-known/")) {
    const known = uri.startsWith("/countries/") ? uri.toLowerCase() : uri;
    request.uri = known + (known.startsWith("/api/") ? ".json" : ".html");
  }
  return request;
}
