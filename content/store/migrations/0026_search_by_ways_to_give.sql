-- Searches are narrowed by ways to give and by website: the words of content/nonprofit/search-facets.ts, E006usdc and E007. The
-- trigger search_reworded indexes what changes.
UPDATE `nonprofits` SET `search_facets` = `search_facets`
  || CASE WHEN `usdc_wallet` IS NULL THEN '' ELSE ' ' || char(57350) || 'usdc' END
  || CASE WHEN coalesce(`website`, '') = '' THEN '' ELSE ' ' || char(57351) END
WHERE `usdc_wallet` IS NOT NULL OR coalesce(`website`, '') <> '';
