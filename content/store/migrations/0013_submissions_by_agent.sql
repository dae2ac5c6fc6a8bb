DROP INDEX `submissions_by_agent_and_field`;--> statement-breakpoint
CREATE INDEX `submissions_by_agent` ON `submissions` (`agent_id`,`nonprofit_id`,`field`,`normalised_value`);