CREATE TABLE `mail_outbox` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`submission_id` text NOT NULL,
	`address_seal` text NOT NULL,
	`told` text NOT NULL,
	`network` text NOT NULL,
	`status` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`sent_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `mail_outbox_submission_id_unique` ON `mail_outbox` (`submission_id`);--> statement-breakpoint
CREATE INDEX `mail_outbox_due` ON `mail_outbox` (`due_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `mail_outbox_sent` ON `mail_outbox` (`sent_at`) WHERE sent_at is not null;