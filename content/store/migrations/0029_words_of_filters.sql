-- Every filter is a word of the search index: content/nonprofit/filters.ts makes them for rows that are written. The trigger
-- search_reworded indexes what changes. E003 stands for spaces and ends a word; initials are taken over as they are.
WITH `spelled` AS (
  SELECT id, char(57347) AS mark,
    replace(replace(replace(replace(replace(replace(nullif(region, ''), '''', ''), '’', ''), '.', ''), '-', ' '), ',', ' '), ' ', char(57347)) AS region,
    replace(replace(replace(replace(replace(replace(nullif(city, ''), '''', ''), '’', ''), '.', ''), '-', ' '), ',', ' '), ' ', char(57347)) AS city,
    substr(search_facets, instr(search_facets, char(57349))) || ' ' AS initials,
    (
      SELECT max(facts ->> '$.income') FROM register_records
      WHERE nonprofit_id = nonprofits.id AND json_type(facts, '$.income') IN ('integer', 'real')
    ) AS income
  FROM nonprofits
)
UPDATE `nonprofits` SET `search_facets` = (
  SELECT substr(s.initials, 1, instr(s.initials, ' ') - 1)
    || coalesce((
      SELECT group_concat(' ' || char(57344) || replace(cause_id, '-', s.mark) || s.mark, '') FROM nonprofit_causes
      WHERE nonprofit_id = nonprofits.id
    ), '')
    || coalesce(' ' || char(57345) || country_code || s.mark, '')
    || coalesce(' ' || char(57352) || lower(s.region) || s.mark || ' ' || char(57348) || s.region || s.mark, '')
    || coalesce(' ' || char(57353) || lower(s.city) || s.mark || ' ' || char(57348) || s.city || s.mark, '')
    || ' ' || char(57354) || iif(verified = 1, 'true', 'false') || s.mark
    || iif(usdc_wallet IS NULL, '', ' ' || char(57350) || 'usdc' || s.mark)
    || ' ' || char(57351) || iif(coalesce(website, '') = '', 'false', 'true') || s.mark
    || ' ' || char(57355) || replace(CASE
      WHEN s.income IS NULL THEN 'unknown'
      WHEN s.income < 1 THEN 'none'
      WHEN s.income < 10000 THEN 'under-10k'
      WHEN s.income < 100000 THEN '10k-100k'
      WHEN s.income < 1000000 THEN '100k-1m'
      WHEN s.income < 10000000 THEN '1m-10m'
      WHEN s.income < 100000000 THEN '10m-100m'
      ELSE 'over-100m' END, '-', s.mark) || s.mark
    || iif(ghd_aligned = 1, ' ' || char(57346) || '1' || s.mark, '')
  FROM spelled AS s WHERE s.id = nonprofits.id
);
