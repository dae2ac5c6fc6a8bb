CREATE TABLE `agent_keys` (
	`agent_id` text PRIMARY KEY NOT NULL,
	`secret_digest` text,
	`bound_at` integer,
	`bound_by` text,
	`revoked_at` integer,
	`approved_name` text
);
--> statement-breakpoint
CREATE INDEX `drafts_by_agent` ON `recommendation_drafts` (`agent_id`);--> statement-breakpoint
-- Networks are counted within IPv4 or IPv6 now, and these do not say which: as before the strict mode, they count again
-- when the same agent sends the same.
UPDATE submissions SET network = NULL WHERE network NOT LIKE '_:%';
--> statement-breakpoint
UPDATE recommendation_drafts SET network = NULL WHERE network NOT LIKE '_:%';
