ALTER TABLE `nonprofits` ADD `merged_into` text;--> statement-breakpoint
ALTER TABLE `recommendation_log` ADD `weight` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
-- Of several texts of one agent for one field that wait, the newest stays, as if the rule had been there before.
UPDATE submissions SET status = 'rejected', reason = 'replaced by the same agent', decided_at = created_at, network = NULL
WHERE status = 'pending' AND audit_only = 0 AND field_type = 'prose' AND field NOT IN ('programme', 'impact_metric')
  AND EXISTS (
    SELECT 1 FROM submissions AS later
    WHERE later.nonprofit_id = submissions.nonprofit_id AND later.field = submissions.field
      AND later.agent_id = submissions.agent_id AND later.id > submissions.id
      AND later.status = 'pending' AND later.audit_only = 0
  );--> statement-breakpoint
CREATE UNIQUE INDEX `one_pending_text_per_agent` ON `submissions` (`nonprofit_id`,`field`,`agent_id`,case when field = 'programme' or field = 'impact_metric' then normalised_value else '' end) WHERE status = 'pending' and audit_only = 0 and field_type = 'prose';--> statement-breakpoint
CREATE INDEX `submissions_waiting` ON `submissions` (`created_at`) WHERE status = 'pending' and audit_only = 0;