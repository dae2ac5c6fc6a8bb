DROP INDEX `onboarding_mailed`;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `mailed_host` text;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `mails` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `first_approved_held` integer;--> statement-breakpoint
CREATE INDEX `onboarding_mailed` ON `onboarding_submissions` (`mailed_host`,`mailed_at`) WHERE mailed_host is not null;