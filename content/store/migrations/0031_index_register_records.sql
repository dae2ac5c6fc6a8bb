DROP INDEX `register_records_by_scope`;--> statement-breakpoint
DROP INDEX `register_records_of`;--> statement-breakpoint
CREATE INDEX `register_records_of` ON `register_records` (`nonprofit_id`,`org_id`,`register`);