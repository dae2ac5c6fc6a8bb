DROP INDEX `registrations_without_org_id`;--> statement-breakpoint
CREATE INDEX `registrations_without_org_id` ON `registrations` (upper(replace(replace(replace(replace(registration_number, ' ', ''), '-', ''), '/', ''), '.', ''))) WHERE org_id is null;
