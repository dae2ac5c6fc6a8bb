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
--> statement-breakpoint
PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_wallet_holds` (
	`submission_id` text PRIMARY KEY NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`wallet_before` text,
	`wallet` text NOT NULL,
	`wallet_challenge` text,
	`wallet_signature` text,
	`status` text NOT NULL,
	`reason` text,
	`approved_by` text NOT NULL,
	`approved_at` integer NOT NULL,
	`effective_at` integer NOT NULL,
	`decided_by` text,
	`decided_at` integer
);
--> statement-breakpoint
INSERT INTO `__new_wallet_holds`("submission_id", "nonprofit_id", "wallet_before", "wallet", "wallet_challenge", "wallet_signature", "status", "reason", "approved_by", "approved_at", "effective_at", "decided_by", "decided_at") SELECT "submission_id", "nonprofit_id", "wallet_before", "wallet", "wallet_challenge", "wallet_signature", "status", "reason", "approved_by", "approved_at", "effective_at", "decided_by", "decided_at" FROM `wallet_holds`;--> statement-breakpoint
DROP TABLE `wallet_holds`;--> statement-breakpoint
ALTER TABLE `__new_wallet_holds` RENAME TO `wallet_holds`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE UNIQUE INDEX `one_held_wallet_per_nonprofit` ON `wallet_holds` (`nonprofit_id`) WHERE status = 'held';--> statement-breakpoint
CREATE INDEX `wallet_holds_due` ON `wallet_holds` (`effective_at`,`submission_id`) WHERE status = 'held';--> statement-breakpoint
CREATE INDEX `wallet_holds_stopped` ON `wallet_holds` (`nonprofit_id`) WHERE status = 'stopped';--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `proven_host` text;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `proven_by` text;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `proven_at` integer;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `mailed_at` integer;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `first_approved_by` text;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `first_approved_value` text;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `erased_at` integer;--> statement-breakpoint
CREATE INDEX `onboarding_mailed` ON `onboarding_submissions` (`mailed_at`) WHERE mailed_at is not null;--> statement-breakpoint
CREATE INDEX `onboarding_to_erase` ON `onboarding_submissions` (`reviewed_at`) WHERE status = 'rejected' and erased_at is null;
--> statement-breakpoint
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
--> statement-breakpoint
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
--> statement-breakpoint
ALTER TABLE `audit_log` ADD `previous_hash` text;--> statement-breakpoint
ALTER TABLE `audit_log` ADD `hash` text;--> statement-breakpoint
-- Entries of older versions are put into the chain once; nothing else of an entry ever changes.
DROP TRIGGER `audit_log_is_not_changed`;
--> statement-breakpoint
CREATE TRIGGER `audit_log_is_not_changed` BEFORE UPDATE ON `audit_log`
WHEN OLD.hash IS NOT NULL OR NEW.hash IS NULL
  OR (OLD.id, OLD.operator, OLD.action, OLD.subject, OLD.detail, OLD.happened_at)
    IS NOT (NEW.id, NEW.operator, NEW.action, NEW.subject, NEW.detail, NEW.happened_at)
BEGIN
  SELECT RAISE(ABORT, 'the audit log is never changed');
END;
--> statement-breakpoint
-- INSERT OR REPLACE takes the older row out without asking the trigger for deletions.
CREATE TRIGGER `audit_log_is_not_replaced` BEFORE INSERT ON `audit_log`
WHEN EXISTS (SELECT 1 FROM audit_log WHERE id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'the audit log is never changed');
END;
--> statement-breakpoint
ALTER TABLE `provenance` ADD `corroborations` integer;
--> statement-breakpoint
ALTER TABLE `donation_intents` ADD `network` text;--> statement-breakpoint
CREATE INDEX `donation_intents_by_network` ON `donation_intents` (`network`) WHERE status = 'waiting';
--> statement-breakpoint
ALTER TABLE `donation_intents` ADD `sponsored_lamports` integer;--> statement-breakpoint
ALTER TABLE `donation_intents` ADD `sponsored_donor` text;--> statement-breakpoint
CREATE INDEX `donation_intents_sponsored` ON `donation_intents` (`created_at`,`nonprofit_id`,`sponsored_donor`,`sponsored_lamports`) WHERE sponsored_lamports IS NOT NULL;
--> statement-breakpoint
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
--> statement-breakpoint
DROP INDEX `onboarding_mailed`;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `mailed_host` text;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `mails` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `onboarding_submissions` ADD `first_approved_held` integer;--> statement-breakpoint
CREATE INDEX `onboarding_mailed` ON `onboarding_submissions` (`mailed_host`,`mailed_at`) WHERE mailed_host is not null;
