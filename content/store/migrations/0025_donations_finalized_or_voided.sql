PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_donations` (
	`id` text PRIMARY KEY NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`amount_micro_usdc` integer NOT NULL,
	`network` text NOT NULL,
	`tx_signature` text NOT NULL,
	`slot` integer DEFAULT 0 NOT NULL,
	`commitment` text DEFAULT 'confirmed' NOT NULL,
	`recipient` text DEFAULT '' NOT NULL,
	`source` text,
	`destination` text NOT NULL,
	`mint` text DEFAULT '' NOT NULL,
	`donor` text,
	`memo` text,
	`settled_at` integer NOT NULL,
	`recorded_at` integer NOT NULL,
	`check_at` integer,
	`unknown` integer DEFAULT 0 NOT NULL,
	`voided_at` integer,
	`void_reason` text,
	CONSTRAINT "donations_amount_positive" CHECK("__new_donations"."amount_micro_usdc" > 0),
	CONSTRAINT "donations_final_stay" CHECK("__new_donations"."voided_at" IS NULL OR "__new_donations"."commitment" = 'confirmed'),
	CONSTRAINT "donations_voided_for_a_reason" CHECK(("__new_donations"."voided_at" IS NULL) = ("__new_donations"."void_reason" IS NULL))
);
--> statement-breakpoint
-- A gift of which mint and recipient were not kept yet cannot be compared with the chain: it is not looked at again.
INSERT INTO `__new_donations`("id", "nonprofit_id", "amount_micro_usdc", "network", "tx_signature", "slot", "commitment", "recipient", "source", "destination", "mint", "donor", "memo", "settled_at", "recorded_at", "check_at", "unknown", "voided_at", "void_reason") SELECT "id", "nonprofit_id", "amount_micro_usdc", "network", "tx_signature", "slot", "commitment", "recipient", "source", "destination", "mint", "donor", "memo", "settled_at", "recorded_at", iif("commitment" = 'confirmed' AND "mint" <> '' AND "recipient" <> '', "recorded_at", NULL), 0, NULL, NULL FROM `donations`;--> statement-breakpoint
DROP TABLE `donations`;--> statement-breakpoint
ALTER TABLE `__new_donations` RENAME TO `donations`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE UNIQUE INDEX `one_credit_per_transfer` ON `donations` (`tx_signature`,`destination`) WHERE voided_at IS NULL;--> statement-breakpoint
CREATE INDEX `donations_by_check` ON `donations` (`check_at`) WHERE check_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `donations_voided` ON `donations` (`voided_at`) WHERE voided_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `donations_by_nonprofit` ON `donations` (`nonprofit_id`,`settled_at`);--> statement-breakpoint
CREATE INDEX `donations_by_time` ON `donations` (`recorded_at`);--> statement-breakpoint
CREATE INDEX `donations_by_memo` ON `donations` (`memo`);--> statement-breakpoint
-- What the directory has signed is never lost: a gift that vanished from the chain is voided.
CREATE TRIGGER `donations_are_not_deleted` BEFORE DELETE ON `donations`
BEGIN
  SELECT RAISE(ABORT, 'a donation is voided, never deleted');
END;
--> statement-breakpoint
CREATE TRIGGER `donations_stay_voided` BEFORE UPDATE ON `donations` WHEN OLD.voided_at IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a voided donation is never changed');
END;
