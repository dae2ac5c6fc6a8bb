vcl 4.1;

# Almoner behind Varnish, in front of nginx (site/delivery/edge/nginx.conf) or of `bun start` itself.
# Debian: apt-get install varnish varnish-modules
# Start varnishd with `-p backend_idle_timeout=5`: the service closes idle connections after 10 s.
# Purged by the publisher: ALMONER_PURGE_URLS=http://127.0.0.1:6081 ALMONER_PURGE_MODE=xkey

import std;
import xkey;

backend default {
  .host = "127.0.0.1"; # HERE: where nginx or `bun start` listens.
  .port = "8080"; # HERE
  .first_byte_timeout = 65s;
}

# Where the publisher runs.
acl publishers {
  "127.0.0.1";
  "::1";
}

sub vcl_recv {
  # The hop that Varnish added itself is the only one: anyone who came through another proxy is not the publisher.
  if (req.method == "PURGE") {
    if (client.ip !~ publishers || req.http.X-Forwarded-For ~ ",") {
      return (synth(403, "Not the publisher"));
    }
    if (req.http.xkey-purge) {
      set req.http.purged = xkey.purge(req.http.xkey-purge);
      return (synth(200, "Purged " + req.http.purged));
    }
    if (req.http.xkey-softpurge) {
      set req.http.purged = xkey.softpurge(req.http.xkey-softpurge);
      return (synth(200, "Purged softly " + req.http.purged));
    }
    call almoner_one_address;
    return (purge);
  }

  # What the service does not know ends its connection without an answer.
  if (req.method !~ "^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$") {
    return (synth(405, "Method Not Allowed"));
  }

  # What only the service can answer.
  if ((req.method != "GET" && req.method != "HEAD") || req.http.Authorization || req.http.Almoner-Sequence) {
    return (pass);
  }
  # From the table of addresses: what only the service answers
  if (req.url ~ "^(?:/nonprofits/[^/]+\.atom|/history/[^/]+|/organisations/[^/]+|/nonprofits/[^/]+/history|/api/nonprofits/[^/]+/history|/causes/[^/]+/[^/]+|/countries/[^/]+/[^/]+|/pictures/nonprofits/.*|/pictures/countries/.*|/api|/api/organisations|/api/donations/[^/]+/[^/]+|/api/gaps|/api/search|/api/compare|/api/recommend|/api/recommend/drafts|/api/enrich/[^/]+|/api/agents|/api/agents/rotate|/api/agents/revoke|/api/corrections/status|/api/corrections/status/page|/api/corrections/[^/]+|/api/donate/[^/]+|/api/donate/[^/]+/quote|/api/donate/[^/]+/status|/api/wallets|/api/wallets/[^/]+|/api/onboard|/api/onboard/challenge|/api/onboard/status|/api/onboard/status/page|/api/onboard/host-proof|/api/onboard/withdraw|/api/organisations/standing|/api/organisations/[^/]+|/reconcile|/mcp|/mcp/read|/healthz|/readyz|/api/admin/.*|/desk|/desk/.*|/reconcile/.*|/[a-z]{2}(?:-[a-z]{2,4})?(?:/history/[^/]+|/organisations/[^/]+|/nonprofits/[^/]+/history|/causes/[^/]+/[^/]+|/countries/[^/]+/[^/]+))/?(?:\?|$)") { return (pass); }
  if (req.url ~ "^(?:/api/stats|/api/needs-enrichment|/api/agents/leaderboard|/api/agents/exemplars|/api/enrichments/stats|/api/donations/[^/.]+)/?(?:\?|$)") { return (pass); }
  if (req.url ~ "^(?:/corrections|/onboard|/compare|/search|/browse|/api/nonprofits|/api/nonprofits/[^/.]+|/[a-z]{2}(?:-[a-z]{2,4})?(?:/corrections|/onboard|/compare|/search|/browse|/nonprofits/[^/]+|/donate/[^/]+|/causes/[^/]+|/countries/[^/]+|/history/[^/]+|/organisations/[^/]+|/nonprofits/[^/]+/history|/causes/[^/]+/[^/]+|/countries/[^/]+/[^/]+|/nonprofits))/?\?.") { return (pass); }
  if (req.url ~ "^(?:/causes/[^/]+|/countries/[^/]+)\?(?:.*&)?(?:cause|country|region|city|claimed|accepts|has_website|income|ghd_aligned|sort|page)=") { return (pass); }
  # End of it

  # Who names markdown may get it in the place of a page, or a list as a file: the backend decides, and no cache keeps it.
  if (req.http.Accept ~ "(?i)text/(?:markdown|csv)|ndjson") {
    return (pass);
  }

  # What is left is a file, or a path that the service says is none. Pages vary by Accept: one form of it makes one copy.
  set req.http.Accept = "text/html";
  unset req.http.Cookie;
  call almoner_one_address;
  return (hash);
}

# A file has one address: without a query, and country codes in small letters.
sub almoner_one_address {
  set req.url = regsub(req.url, "\?.*$", "");
  if (req.url ~ "^/countries/") {
    set req.url = std.tolower(req.url);
  }
}

# One directory, whatever the host: a purge need not know by which name readers came.
sub vcl_hash {
  hash_data(req.url);
  return (lookup);
}

sub vcl_backend_response {
  set beresp.http.xkey = regsuball(beresp.http.Cache-Tag, ",", " ");
  # Answers that do not say how long they hold are not kept.
  if (!beresp.http.Cache-Control) {
    set beresp.uncacheable = true;
    set beresp.ttl = 10s;
    return (deliver);
  }
  # A page that is not there may be there soon.
  if (beresp.status == 404) {
    set beresp.ttl = 10s;
    set beresp.grace = 0s;
  }
  if (beresp.status >= 500) {
    # An older copy is better than an error.
    if (bereq.is_bgfetch) {
      return (abandon);
    }
    set beresp.uncacheable = true;
    set beresp.ttl = 1s;
    return (deliver);
  }
  # Kept longer than shown, to ask the backend with If-None-Match.
  set beresp.keep = 1h;
}

sub vcl_deliver {
  unset resp.http.xkey;
  unset resp.http.Cache-Tag;
  unset resp.http.Via;
  unset resp.http.X-Varnish;
  if (obj.hits > 0) {
    set resp.http.X-Cache = "hit";
  } else {
    set resp.http.X-Cache = "miss";
  }
}
