-- Agent ids that differ in the number of spaces between words are one, so those stored before that become one here: else
-- no one could revert what they sent, and anyone could bind their id. SQLite has no regular expressions; two control
-- characters, which no id holds, mark the spaces of a run.
-- Of several values of one agent for one field that wait, the newest stays, as if the rule had been there before.
UPDATE submissions SET status = 'rejected', reason = 'replaced by the same agent', decided_at = created_at, network = NULL
WHERE id IN (
  SELECT min(one.id, other.id)
  FROM submissions AS one
  JOIN submissions AS other ON other.nonprofit_id = one.nonprofit_id AND other.field = one.field AND other.id <> one.id
  WHERE one.agent_id LIKE '%  %' AND one.status = 'pending' AND one.audit_only = 0
    AND other.status = 'pending' AND other.audit_only = 0
    AND replace(replace(replace(other.agent_id, ' ', char(1, 2)), char(2, 1), ''), char(1, 2), ' ')
      = replace(replace(replace(one.agent_id, ' ', char(1, 2)), char(2, 1), ''), char(1, 2), ' ')
    AND (one.field NOT IN ('programme', 'impact_metric') OR other.normalised_value = one.normalised_value)
);--> statement-breakpoint
UPDATE submissions SET agent_id = replace(replace(replace(agent_id, ' ', char(1, 2)), char(2, 1), ''), char(1, 2), ' ')
WHERE agent_id LIKE '%  %';--> statement-breakpoint
UPDATE recommendation_drafts
SET status = 'rejected', reason = 'replaced by the same agent', decided_by = 'agent', decided_at = created_at, network = NULL
WHERE id IN (
  SELECT min(one.id, other.id)
  FROM recommendation_drafts AS one
  JOIN recommendation_drafts AS other ON other.nonprofit_id = one.nonprofit_id AND other.id <> one.id
  WHERE one.agent_id LIKE '%  %' AND one.status = 'pending' AND other.status = 'pending'
    AND replace(replace(replace(other.agent_id, ' ', char(1, 2)), char(2, 1), ''), char(1, 2), ' ')
      = replace(replace(replace(one.agent_id, ' ', char(1, 2)), char(2, 1), ''), char(1, 2), ' ')
);--> statement-breakpoint
UPDATE recommendation_drafts SET agent_id = replace(replace(replace(agent_id, ' ', char(1, 2)), char(2, 1), ''), char(1, 2), ' ')
WHERE agent_id LIKE '%  %';--> statement-breakpoint
INSERT INTO agents (agent_id, agent_name, submissions, applied, nonprofits_touched, last_seen)
SELECT replace(replace(replace(agent_id, ' ', char(1, 2)), char(2, 1), ''), char(1, 2), ' '), agent_name,
  sum(submissions), sum(applied), 0, max(last_seen)
FROM agents WHERE agent_id LIKE '%  %' GROUP BY 1
ON CONFLICT (agent_id) DO UPDATE SET
  submissions = submissions + excluded.submissions,
  applied = applied + excluded.applied,
  last_seen = max(last_seen, excluded.last_seen);--> statement-breakpoint
DELETE FROM agents WHERE agent_id LIKE '%  %';--> statement-breakpoint
-- A nonprofit that both spellings touched is one.
UPDATE agents SET nonprofits_touched = (
  SELECT count(DISTINCT nonprofit_id) FROM submissions WHERE submissions.agent_id = agents.agent_id AND test_data = 0
) WHERE agent_id LIKE '% %';
