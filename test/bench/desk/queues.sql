-- Fills each queue with as many things as ?1 says, spread over profiles up to the id ?2, sent since ?3 (milliseconds since 1970).

-- Prose.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
INSERT INTO submissions (nonprofit_id, field, field_type, value, normalised_value, source_url, agent_id, agent_name, status, created_at)
SELECT (SELECT id FROM nonprofits WHERE id = 1 + (i * 7919) % ?2), 'mission', 'prose', 'We do good work number ' || i || '. ' || substr(hex(randomblob(200)), 1, 300), 'x', 'https://source.example/' || i, 'agent-' || (i % 997), 'Agent', 'pending', ?3 + i FROM n;

-- Contested: two values for one field.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
INSERT INTO submissions (nonprofit_id, field, field_type, value, normalised_value, agent_id, agent_name, status, created_at)
SELECT i, 'region', 'structured', 'One', 'one', 'agent-a', 'A', 'pending', ?3 + i FROM n;

WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
INSERT INTO submissions (nonprofit_id, field, field_type, value, normalised_value, agent_id, agent_name, status, created_at)
SELECT i, 'region', 'structured', 'Two', 'two', 'agent-b', 'B', 'pending', ?3 + i FROM n;

WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
INSERT INTO pending_fields (nonprofit_id, field, pending, list_order) SELECT i, 'region', 2, i FROM n WHERE true
ON CONFLICT (nonprofit_id, field) DO UPDATE SET pending = 2;

-- Contradicted: two agents against what agents made live.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
INSERT INTO provenance (nonprofit_id, field, set_by, source, agents, applied_at)
SELECT i, 'city', 'consensus', 'agents', '["A","B"]', ?3 FROM n WHERE true
ON CONFLICT (nonprofit_id, field) DO UPDATE SET set_by = 'consensus';

WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
INSERT INTO submissions (nonprofit_id, field, field_type, value, normalised_value, agent_id, agent_name, status, audit_only, confidence, created_at)
SELECT i, 'city', 'structured', 'Elsewhere', 'elsewhere', 'agent-c', 'C', 'pending', 1, 2, ?3 + i FROM n;

-- Registrations, whose names are as near to each other as names get.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
INSERT INTO onboarding_submissions (id, type, nonprofit_id, request, request_digest, status_digest, status, created_at)
SELECT printf('%032x', i), 'claim', i, json_object('claim_slug', null, 'name', null, 'country_code', null, 'contact_email', 'office' || i || '@claimer.example', 'contact_name', null, 'usdc_wallet', null, 'mission', 'We do good.', 'website', null, 'city', 'Oslo', 'registration_number', null),
'digest-' || i, 'status-' || i, 'pending_review', ?3 + i FROM n;

-- Held wallets.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
INSERT INTO wallet_holds (submission_id, nonprofit_id, wallet_before, wallet, status, approved_by, approved_at, effective_at)
SELECT printf('%032x', i), i, '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T', '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin', 'held', 'ada', ?3, 9700000000000 + i FROM n;

-- Drafts.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
INSERT INTO recommendation_drafts (nonprofit_id, recommended_for, normalised, why_recommended, source_url, agent_id, agent_name, phase, status, created_at)
SELECT (SELECT id FROM nonprofits WHERE id = 1 + (i * 7919) % ?2), '["donors interested in reading"]', '["donors interested in reading"]', 'It lends books.', 'https://source.example/', 'agent-' || i, 'Agent', 2, 'pending', ?3 + i FROM n;

-- Corrections.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
INSERT INTO corrections (id, nonprofit_id, field, what_is_wrong, request_digest, status_digest, status, created_at)
SELECT printf('%032x', i), i, 'city', 'It moved.', 'digest-' || i, 'status-' || i, 'pending_review', ?3 + i FROM n;

-- Links of which an operator decides.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
INSERT INTO registration_links (org_id, other_org_id, state, source, set_at, gone, kept)
SELECT 'XX-A-' || i, 'XX-B-' || i, 'waiting', 'same_number', ?3 + i, 'gone-' || i, (SELECT slug FROM nonprofits WHERE id = i) FROM n;

-- The log, whose chain nobody checks here.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
INSERT INTO audit_log (operator, action, subject, detail, happened_at, previous_hash, hash)
SELECT 'ada', CASE i % 2 WHEN 0 THEN 'review.approved' ELSE 'review.rejected' END, 'prose-' || i, '{"reason":"Because."}', ?3 + i, i - 1, i FROM n;
