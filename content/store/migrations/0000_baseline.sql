CREATE TABLE `agent_keys` (
	`agent_id` text PRIMARY KEY NOT NULL,
	`secret_digest` text,
	`bound_at` integer,
	`bound_by` text,
	`revoked_at` integer,
	`approved_name` text
);
--> statement-breakpoint
CREATE TABLE `agents` (
	`agent_id` text PRIMARY KEY NOT NULL,
	`agent_name` text NOT NULL,
	`submissions` integer DEFAULT 0 NOT NULL,
	`applied` integer DEFAULT 0 NOT NULL,
	`nonprofits_touched` integer DEFAULT 0 NOT NULL,
	`last_seen` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `agents_by_credit` ON `agents` (`applied`,`submissions`,`last_seen`);--> statement-breakpoint
CREATE TABLE `corrections` (
	`id` text PRIMARY KEY NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`field` text NOT NULL,
	`what_is_wrong` text NOT NULL,
	`suggested_value` text,
	`source_url` text,
	`contact_email` text,
	`network` text,
	`request_digest` text NOT NULL,
	`status_digest` text NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`reviewed_by` text,
	`created_at` integer NOT NULL,
	`reviewed_at` integer
);
--> statement-breakpoint
CREATE INDEX `corrections_by_status` ON `corrections` (`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `corrections_waiting_for_nonprofit` ON `corrections` (`nonprofit_id`) WHERE status = 'pending_review';--> statement-breakpoint
CREATE INDEX `corrections_waiting_of_network` ON `corrections` (`network`) WHERE status = 'pending_review';--> statement-breakpoint
CREATE UNIQUE INDEX `corrections_by_status_token` ON `corrections` (`status_digest`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_pending_correction_per_request` ON `corrections` (`request_digest`) WHERE status = 'pending_review';--> statement-breakpoint
CREATE INDEX `corrections_with_contact` ON `corrections` (`reviewed_at`) WHERE contact_email is not null and status <> 'pending_review';--> statement-breakpoint
CREATE TABLE `enrichment_counts` (
	`name` text PRIMARY KEY NOT NULL,
	`count` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `gaps` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`day` text NOT NULL,
	`network` text NOT NULL,
	`looked_for` text NOT NULL,
	`field` text,
	`cause` text,
	`country_code` text,
	`nonprofit_id` integer,
	`digest` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `gaps_digest_unique` ON `gaps` (`digest`);--> statement-breakpoint
CREATE INDEX `gaps_by_day` ON `gaps` (`day`,`network`);--> statement-breakpoint
CREATE INDEX `gaps_of_nonprofit` ON `gaps` (`nonprofit_id`,`day`,`network`) WHERE nonprofit_id is not null;--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`route` text NOT NULL,
	`key` text NOT NULL,
	`request_digest` text NOT NULL,
	`status` integer NOT NULL,
	`body` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`route`, `key`)
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_by_time` ON `idempotency_keys` (`created_at`);--> statement-breakpoint
CREATE TABLE `pending_fields` (
	`nonprofit_id` integer NOT NULL,
	`field` text NOT NULL,
	`pending` integer NOT NULL,
	`list_order` integer NOT NULL,
	PRIMARY KEY(`nonprofit_id`, `field`)
);
--> statement-breakpoint
CREATE INDEX `pending_fields_by_order` ON `pending_fields` (`list_order`,`nonprofit_id`);--> statement-breakpoint
CREATE INDEX `pending_fields_contested` ON `pending_fields` (`nonprofit_id`,`field`) WHERE pending > 1;--> statement-breakpoint
CREATE TABLE `submissions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`field` text NOT NULL,
	`field_type` text NOT NULL,
	`value` text NOT NULL,
	`normalised_value` text NOT NULL,
	`source_url` text,
	`agent_id` text NOT NULL,
	`agent_name` text NOT NULL,
	`network` text,
	`status` text NOT NULL,
	`audit_only` integer DEFAULT 0 NOT NULL,
	`test_data` integer DEFAULT 0 NOT NULL,
	`confidence` integer DEFAULT 1 NOT NULL,
	`reason` text,
	`winning_value` text,
	`created_at` integer NOT NULL,
	`applied_at` integer,
	`decided_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_pending_per_agent_and_field` ON `submissions` (`nonprofit_id`,`field`,`agent_id`) WHERE status = 'pending' and audit_only = 0 and field_type = 'structured';--> statement-breakpoint
CREATE UNIQUE INDEX `one_pending_text_per_agent` ON `submissions` (`nonprofit_id`,`field`,`agent_id`,case when field = 'programme' or field = 'impact_metric' then normalised_value else '' end) WHERE status = 'pending' and audit_only = 0 and field_type = 'prose';--> statement-breakpoint
CREATE INDEX `submissions_waiting` ON `submissions` (`created_at`) WHERE status = 'pending' and audit_only = 0;--> statement-breakpoint
CREATE INDEX `submissions_by_field` ON `submissions` (`nonprofit_id`,`field`,`status`,`normalised_value`);--> statement-breakpoint
CREATE INDEX `submissions_by_agent` ON `submissions` (`agent_id`,`nonprofit_id`,`field`,`normalised_value`);--> statement-breakpoint
CREATE INDEX `submissions_rejected` ON `submissions` (`nonprofit_id`,`field`,`decided_at`) WHERE status = 'rejected';--> statement-breakpoint
CREATE INDEX `submissions_applied` ON `submissions` (`field`,`decided_at`) WHERE status = 'applied';--> statement-breakpoint
CREATE INDEX `submissions_gone_live` ON `submissions` (`nonprofit_id`,`applied_at`) WHERE applied_at is not null;--> statement-breakpoint
CREATE INDEX `submissions_for_review` ON `submissions` (`id`) WHERE field_type = 'prose' and status = 'pending' and audit_only = 0;--> statement-breakpoint
CREATE INDEX `submissions_disputing` ON `submissions` (`id`) WHERE status = 'pending' and audit_only = 1 and field_type = 'structured' and confidence > 1 and reason is null;--> statement-breakpoint
CREATE TABLE `donation_intents` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`proof` text NOT NULL,
	`network` text,
	`recipient` text,
	`amount_micro_usdc` integer NOT NULL,
	`payment` text,
	`blockhash` text,
	`sponsored_lamports` integer,
	`sponsored_donor` text,
	`sponsored_source` text,
	`status` text NOT NULL,
	`outcome` text,
	`checks` integer DEFAULT 0 NOT NULL,
	`unknown` integer DEFAULT 0 NOT NULL,
	`check_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `donation_intents_once` ON `donation_intents` (`nonprofit_id`,`proof`);--> statement-breakpoint
CREATE INDEX `donation_intents_by_check` ON `donation_intents` (`status`,`check_at`);--> statement-breakpoint
CREATE INDEX `donation_intents_by_network` ON `donation_intents` (`network`) WHERE status = 'waiting';--> statement-breakpoint
CREATE INDEX `donation_intents_sponsored` ON `donation_intents` (`created_at`,`nonprofit_id`,`sponsored_donor`,`sponsored_lamports`) WHERE sponsored_lamports IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `one_sponsored_payment_per_source` ON `donation_intents` (`sponsored_source`);--> statement-breakpoint
CREATE TABLE `donations` (
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
	CONSTRAINT "donations_amount_positive" CHECK("donations"."amount_micro_usdc" > 0),
	CONSTRAINT "donations_final_stay" CHECK("donations"."voided_at" IS NULL OR "donations"."commitment" = 'confirmed'),
	CONSTRAINT "donations_voided_for_a_reason" CHECK(("donations"."voided_at" IS NULL) = ("donations"."void_reason" IS NULL))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_credit_per_transfer` ON `donations` (`tx_signature`,`destination`) WHERE voided_at IS NULL;--> statement-breakpoint
CREATE INDEX `donations_by_check` ON `donations` (`check_at`) WHERE check_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `donations_voided` ON `donations` (`voided_at`) WHERE voided_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `donations_by_nonprofit` ON `donations` (`nonprofit_id`,`settled_at`);--> statement-breakpoint
CREATE INDEX `donations_by_time` ON `donations` (`recorded_at`);--> statement-breakpoint
CREATE INDEX `donations_by_memo` ON `donations` (`memo`);--> statement-breakpoint
CREATE TABLE `impact_metrics` (
	`nonprofit_id` integer NOT NULL,
	`position` integer NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	`unit` text,
	`period` text,
	PRIMARY KEY(`nonprofit_id`, `position`)
);
--> statement-breakpoint
CREATE TABLE `list_totals` (
	`list` text PRIMARY KEY NOT NULL,
	`members` integer NOT NULL,
	`verified` integer NOT NULL,
	`people` real NOT NULL
);
--> statement-breakpoint
CREATE TABLE `listings` (
	`list` text NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`list_order` integer NOT NULL,
	`impact_order` integer NOT NULL,
	`tie_key` text NOT NULL,
	PRIMARY KEY(`nonprofit_id`, `list`)
);
--> statement-breakpoint
CREATE INDEX `listings_by_list_order` ON `listings` (`list`,`list_order`,`tie_key`,`nonprofit_id`);--> statement-breakpoint
CREATE INDEX `listings_by_impact` ON `listings` (`list`,`impact_order`,`tie_key`,`nonprofit_id`);--> statement-breakpoint
CREATE INDEX `listings_by_name` ON `listings` (substr(tie_key, 7),`nonprofit_id`) WHERE list = 'all';--> statement-breakpoint
CREATE TABLE `nonprofit_causes` (
	`nonprofit_id` integer NOT NULL,
	`position` integer NOT NULL,
	`cause_id` text NOT NULL,
	PRIMARY KEY(`nonprofit_id`, `position`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `nonprofit_causes_once` ON `nonprofit_causes` (`nonprofit_id`,`cause_id`);--> statement-breakpoint
CREATE TABLE `nonprofits` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`tagline` text,
	`mission` text,
	`description` text,
	`country_code` text,
	`region` text,
	`city` text,
	`website` text,
	`donation_url` text,
	`logo_url` text,
	`contact_email` text,
	`usdc_wallet` text,
	`wallet_challenge` text,
	`wallet_signature` text,
	`beneficiaries_per_year` integer,
	`founded_year` integer,
	`annual_budget_usd` real,
	`team_size` integer,
	`ghd_aligned` integer DEFAULT 0 NOT NULL,
	`verified` integer DEFAULT 0 NOT NULL,
	`status` text DEFAULT 'listed' NOT NULL,
	`merged_into` text,
	`register` text,
	`register_scope` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`search_facets` text DEFAULT '' NOT NULL,
	CONSTRAINT "nonprofits_flags" CHECK("nonprofits"."verified" in (0, 1) and "nonprofits"."ghd_aligned" in (0, 1))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `nonprofits_slug` ON `nonprofits` (`slug`);--> statement-breakpoint
CREATE INDEX `nonprofits_by_register` ON `nonprofits` (`register`,`register_scope`);--> statement-breakpoint
CREATE INDEX `nonprofits_by_place` ON `nonprofits` (`country_code`,lower(city)) WHERE city is not null;--> statement-breakpoint
CREATE INDEX `nonprofits_by_site` ON `nonprofits` (replace(replace(replace(lower(website), 'https://', ''), 'http://', ''), 'www.', '')) WHERE website is not null;--> statement-breakpoint
CREATE INDEX `nonprofits_by_wallet` ON `nonprofits` (`usdc_wallet`) WHERE usdc_wallet is not null;--> statement-breakpoint
CREATE TABLE `programs` (
	`nonprofit_id` integer NOT NULL,
	`position` integer NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`beneficiaries_per_year` integer,
	`location` text,
	PRIMARY KEY(`nonprofit_id`, `position`)
);
--> statement-breakpoint
CREATE TABLE `provenance` (
	`nonprofit_id` integer NOT NULL,
	`field` text NOT NULL,
	`set_by` text NOT NULL,
	`source` text NOT NULL,
	`source_url` text,
	`rule` text,
	`agents` text DEFAULT '[]' NOT NULL,
	`corroborations` integer,
	`applied_at` integer NOT NULL,
	`replaced` text,
	PRIMARY KEY(`nonprofit_id`, `field`)
);
--> statement-breakpoint
CREATE TABLE `register_records` (
	`org_id` text NOT NULL,
	`register` text NOT NULL,
	`nonprofit_id` integer,
	`name` text NOT NULL,
	`as_of` text NOT NULL,
	`scope` text NOT NULL,
	`state` text NOT NULL,
	`facts` text NOT NULL,
	`finances` text DEFAULT '[]' NOT NULL,
	`row_digest` integer,
	PRIMARY KEY(`org_id`, `register`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `register_records_of` ON `register_records` (`nonprofit_id`,`org_id`,`register`);--> statement-breakpoint
CREATE INDEX `register_records_by_company` ON `register_records` (facts ->> 'company_number') WHERE facts ->> 'company_number' is not null;--> statement-breakpoint
CREATE TABLE `register_scopes` (
	`register` text NOT NULL,
	`scope` text NOT NULL,
	`as_of` text NOT NULL,
	PRIMARY KEY(`register`, `scope`)
);
--> statement-breakpoint
CREATE TABLE `registration_links` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`org_id` text NOT NULL,
	`other_org_id` text NOT NULL,
	`state` text NOT NULL,
	`source` text NOT NULL,
	`set_by` text,
	`set_at` integer NOT NULL,
	`gone` text,
	`kept` text,
	`given` text,
	`undone_by` text,
	`undone_at` integer,
	`reason` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `registration_links_once` ON `registration_links` (`org_id`,`other_org_id`);--> statement-breakpoint
CREATE INDEX `registration_links_by_gone` ON `registration_links` (`gone`);--> statement-breakpoint
CREATE INDEX `registration_links_by_kept` ON `registration_links` (`kept`);--> statement-breakpoint
CREATE INDEX `registration_links_by_state` ON `registration_links` (`state`,`id`);--> statement-breakpoint
CREATE TABLE `registrations` (
	`nonprofit_id` integer NOT NULL,
	`position` integer NOT NULL,
	`country_code` text NOT NULL,
	`type` text NOT NULL,
	`registration_number` text NOT NULL,
	`org_id` text,
	`linked_by` text,
	PRIMARY KEY(`nonprofit_id`, `position`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `registrations_org_id` ON `registrations` (`org_id`);--> statement-breakpoint
CREATE INDEX `registrations_linked` ON `registrations` (`org_id`) WHERE linked_by is not null;--> statement-breakpoint
CREATE INDEX `registrations_without_org_id` ON `registrations` (upper(replace(replace(replace(replace(registration_number, ' ', ''), '-', ''), '/', ''), '.', ''))) WHERE org_id is null;--> statement-breakpoint
CREATE TABLE `sitemap_chunks` (
	`chunk` integer PRIMARY KEY NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `onboarding_submissions` (
	`id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`nonprofit_id` integer,
	`request` text NOT NULL,
	`request_digest` text NOT NULL,
	`status_digest` text NOT NULL,
	`duplicates` text DEFAULT '[]' NOT NULL,
	`wallet_challenge` text,
	`wallet_signature` text,
	`network` text,
	`status` text NOT NULL,
	`reason` text,
	`reviewed_by` text,
	`created_at` integer NOT NULL,
	`reviewed_at` integer,
	`revoked_at` integer,
	`proven_host` text,
	`proven_by` text,
	`proven_at` integer,
	`mailed_at` integer,
	`mailed_host` text,
	`mails` integer DEFAULT 0 NOT NULL,
	`first_approved_by` text,
	`first_approved_value` text,
	`first_approved_held` integer,
	`erased_at` integer
);
--> statement-breakpoint
CREATE INDEX `onboarding_by_status` ON `onboarding_submissions` (`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `onboarding_by_nonprofit` ON `onboarding_submissions` (`nonprofit_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `onboarding_waiting_for_nonprofit` ON `onboarding_submissions` (`nonprofit_id`) WHERE status = 'pending_review';--> statement-breakpoint
CREATE UNIQUE INDEX `onboarding_by_status_token` ON `onboarding_submissions` (`status_digest`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_pending_submission_per_request` ON `onboarding_submissions` (`request_digest`) WHERE status = 'pending_review';--> statement-breakpoint
CREATE UNIQUE INDEX `one_submission_per_challenge` ON `onboarding_submissions` (`wallet_challenge`) WHERE wallet_challenge is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `one_verification_per_nonprofit` ON `onboarding_submissions` (`nonprofit_id`) WHERE type <> 'change' and status = 'approved' and revoked_at is null;--> statement-breakpoint
CREATE INDEX `onboarding_mailed` ON `onboarding_submissions` (`mailed_host`,`mailed_at`) WHERE mailed_host is not null;--> statement-breakpoint
CREATE INDEX `onboarding_to_erase` ON `onboarding_submissions` (`reviewed_at`) WHERE status = 'rejected' and erased_at is null;--> statement-breakpoint
CREATE TABLE `wallet_holds` (
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
CREATE UNIQUE INDEX `one_held_wallet_per_nonprofit` ON `wallet_holds` (`nonprofit_id`) WHERE status = 'held';--> statement-breakpoint
CREATE INDEX `wallet_holds_due` ON `wallet_holds` (`effective_at`,`submission_id`) WHERE status = 'held';--> statement-breakpoint
CREATE INDEX `wallet_holds_stopped` ON `wallet_holds` (`nonprofit_id`) WHERE status = 'stopped';--> statement-breakpoint
CREATE TABLE `activity_counts` (
	`kind` text NOT NULL,
	`hour` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`kind`, `hour`)
);
--> statement-breakpoint
CREATE TABLE `audit_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`operator` text NOT NULL,
	`action` text NOT NULL,
	`subject` text NOT NULL,
	`detail` text DEFAULT '{}' NOT NULL,
	`happened_at` integer NOT NULL,
	`previous_hash` text NOT NULL,
	`hash` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_log_by_subject` ON `audit_log` (`subject`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_by_operator` ON `audit_log` (`operator`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_by_action` ON `audit_log` (`action`,`id`);--> statement-breakpoint
CREATE TABLE `ended_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `leases` (
	`name` text PRIMARY KEY NOT NULL,
	`holder` text NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `limit_hits` (
	`policy` text NOT NULL,
	`client` text NOT NULL,
	`until` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`policy`, `client`, `until`)
);
--> statement-breakpoint
CREATE INDEX `limit_hits_by_until` ON `limit_hits` (`until`);--> statement-breakpoint
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
CREATE INDEX `mail_outbox_sent` ON `mail_outbox` (`sent_at`) WHERE sent_at is not null;--> statement-breakpoint
CREATE TABLE `changes` (
	`sequence` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`nonprofit_id` integer,
	`slug` text,
	`fields` text DEFAULT '[]' NOT NULL,
	`moved_lists` text DEFAULT '[]' NOT NULL,
	`origin` text NOT NULL,
	`changed_at` integer NOT NULL,
	`was` text
);
--> statement-breakpoint
CREATE INDEX `changes_by_nonprofit` ON `changes` (`nonprofit_id`,`sequence`);--> statement-breakpoint
CREATE TABLE `directory_facts` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `feed_files` (
	`number` integer PRIMARY KEY NOT NULL,
	`first_sequence` integer NOT NULL,
	`last_sequence` integer NOT NULL,
	`closed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `imports` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`format` text NOT NULL,
	`files` text NOT NULL,
	`status` text NOT NULL,
	`fetched` text,
	`problem` text,
	`added` integer DEFAULT 0 NOT NULL,
	`changed` integer DEFAULT 0 NOT NULL,
	`unchanged` integer DEFAULT 0 NOT NULL,
	`withdrawn` integer DEFAULT 0 NOT NULL,
	`skipped` integer DEFAULT 0 NOT NULL,
	`started_at` integer NOT NULL,
	`finished_at` integer
);
--> statement-breakpoint
CREATE TABLE `curated_picks` (
	`nonprofit_id` integer PRIMARY KEY NOT NULL,
	`recommended_for` text NOT NULL,
	`why_recommended` text NOT NULL,
	`causes` text,
	`origin` text DEFAULT 'operator' NOT NULL,
	`draft_id` integer,
	`added_by` text DEFAULT '' NOT NULL,
	`updated_at` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE `recommendation_drafts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`nonprofit_id` integer NOT NULL,
	`recommended_for` text NOT NULL,
	`normalised` text NOT NULL,
	`why_recommended` text NOT NULL,
	`source_url` text NOT NULL,
	`agent_id` text NOT NULL,
	`agent_name` text NOT NULL,
	`network` text,
	`sensitive_claims` text DEFAULT '[]' NOT NULL,
	`test_data` integer DEFAULT 0 NOT NULL,
	`phase` integer NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`decided_by` text,
	`created_at` integer NOT NULL,
	`decided_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_pending_draft_per_agent` ON `recommendation_drafts` (`nonprofit_id`,`agent_id`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `drafts_by_nonprofit` ON `recommendation_drafts` (`nonprofit_id`,`status`);--> statement-breakpoint
CREATE INDEX `drafts_by_agent` ON `recommendation_drafts` (`agent_id`);--> statement-breakpoint
CREATE INDEX `drafts_for_review` ON `recommendation_drafts` (`id`) WHERE status = 'pending';--> statement-breakpoint
CREATE TABLE `recommendation_follow_throughs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`recommendation_id` integer NOT NULL,
	`slug` text NOT NULL,
	`action` text NOT NULL,
	`form` text,
	`rank` integer,
	`intent_id` text DEFAULT '' NOT NULL,
	`followed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_follow_through` ON `recommendation_follow_throughs` (`recommendation_id`,`action`,`slug`,`intent_id`);--> statement-breakpoint
CREATE TABLE `recommendation_log` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`query` text NOT NULL,
	`result_count` integer NOT NULL,
	`top_slug` text,
	`slugs` text DEFAULT '[]' NOT NULL,
	`ranking_signals` text NOT NULL,
	`phase` integer DEFAULT 1 NOT NULL,
	`client` text NOT NULL,
	`weight` integer DEFAULT 1 NOT NULL,
	`called_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `recommendation_log_by_client` ON `recommendation_log` (`client`,`called_at`);
--> statement-breakpoint
-- What operators did is never rewritten, whoever asks: not by a bug of ours, and not by hand without a trace in the schema.
CREATE TRIGGER `audit_log_is_not_changed` BEFORE UPDATE ON `audit_log`
BEGIN
  SELECT RAISE(ABORT, 'the audit log is never changed');
END;
--> statement-breakpoint
CREATE TRIGGER `audit_log_is_not_shortened` BEFORE DELETE ON `audit_log`
BEGIN
  SELECT RAISE(ABORT, 'nothing is taken out of the audit log');
END;
--> statement-breakpoint
-- INSERT OR REPLACE takes the older row out without asking the trigger for deletions.
CREATE TRIGGER `audit_log_is_not_replaced` BEFORE INSERT ON `audit_log`
WHEN EXISTS (SELECT 1 FROM audit_log WHERE id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'the audit log is never changed');
END;
--> statement-breakpoint
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
-- Statistics, the leaderboard and the fields that wait for a second agent are counted as submissions change: to count a
-- million rows when someone asks takes 0.3 to 1.3 s. Whatever writes a submission keeps them right, here and nowhere else.
CREATE TRIGGER `submissions_are_counted` AFTER INSERT ON `submissions`
BEGIN
  INSERT INTO enrichment_counts (name, count)
  VALUES ('status:' || NEW.status, 1), ('field:' || NEW.field, 1), ('high_confidence', NEW.confidence > 1)
  ON CONFLICT (name) DO UPDATE SET count = count + excluded.count;

  INSERT INTO agents (agent_id, agent_name, submissions, nonprofits_touched, last_seen)
  VALUES (
    NEW.agent_id, NEW.agent_name, NEW.test_data = 0,
    NEW.test_data = 0 AND NOT EXISTS (
      SELECT 1 FROM submissions
      WHERE agent_id = NEW.agent_id AND nonprofit_id = NEW.nonprofit_id AND test_data = 0 AND id <> NEW.id
    ),
    NEW.created_at
  )
  ON CONFLICT (agent_id) DO UPDATE SET
    agent_name = excluded.agent_name,
    submissions = submissions + excluded.submissions,
    nonprofits_touched = nonprofits_touched + excluded.nonprofits_touched,
    last_seen = max(last_seen, excluded.last_seen);

  -- A withdrawn nonprofit stands in no list, so nothing waits there.
  INSERT INTO pending_fields (nonprofit_id, field, pending, list_order)
  SELECT nonprofit_id, NEW.field, 1, list_order FROM listings
  WHERE nonprofit_id = NEW.nonprofit_id AND list = 'all'
    AND NEW.status = 'pending' AND NEW.audit_only = 0 AND NEW.field_type = 'structured' AND NEW.test_data = 0
  ON CONFLICT (nonprofit_id, field) DO UPDATE SET pending = pending + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `submissions_change_status` AFTER UPDATE OF `status` ON `submissions` WHEN OLD.status <> NEW.status
BEGIN
  INSERT INTO enrichment_counts (name, count)
  VALUES
    ('status:' || OLD.status, -1), ('status:' || NEW.status, 1),
    -- The first submission that goes live improves its nonprofit; with the last one that is the case no more.
    ('nonprofits_improved', ((NEW.status = 'applied') - (OLD.status = 'applied')) * NOT EXISTS (
      SELECT 1 FROM submissions
      WHERE nonprofit_id = NEW.nonprofit_id AND applied_at IS NOT NULL AND status = 'applied' AND id <> NEW.id
    ))
  ON CONFLICT (name) DO UPDATE SET count = count + excluded.count;

  UPDATE agents SET applied = applied + (NEW.status = 'applied') - (OLD.status = 'applied')
  WHERE agent_id = NEW.agent_id AND NEW.test_data = 0;
END;
--> statement-breakpoint
CREATE TRIGGER `submissions_change_confidence` AFTER UPDATE OF `confidence` ON `submissions`
WHEN (OLD.confidence > 1) <> (NEW.confidence > 1)
BEGIN
  INSERT INTO enrichment_counts (name, count)
  VALUES ('high_confidence', (NEW.confidence > 1) - (OLD.confidence > 1))
  ON CONFLICT (name) DO UPDATE SET count = count + excluded.count;
END;
--> statement-breakpoint
CREATE TRIGGER `submissions_wait_no_more` AFTER UPDATE OF `status`, `audit_only` ON `submissions`
WHEN OLD.status = 'pending' AND OLD.audit_only = 0 AND OLD.field_type = 'structured' AND OLD.test_data = 0
  AND (NEW.status <> 'pending' OR NEW.audit_only = 1)
BEGIN
  UPDATE pending_fields SET pending = pending - 1 WHERE nonprofit_id = NEW.nonprofit_id AND field = NEW.field;
  DELETE FROM pending_fields WHERE nonprofit_id = NEW.nonprofit_id AND field = NEW.field AND pending < 1;
END;
--> statement-breakpoint
-- What search looks in: one row for each nonprofit of the list `all`, so a withdrawn one is in none.
-- Its rowid is its rank (bits 32 up, smaller stands first) and its id (bits 0 to 31): FTS5 yields matches in the order of
-- rowids, so the foremost of very many matches are found without looking at the others. The rank has nine bits for
-- beneficiaries and verification, and twelve for the standing among equals.
CREATE VIEW `search_places` AS
SELECT
  nonprofit_id,
  ((511 - 2 * (8 * length(printf('%o', -impact_order >> 1)) + substr(printf('%o', -impact_order >> 1), 1, 1))
    - (-impact_order & 1)) * 4096 + (CAST(substr(tie_key, 1, 6) AS INTEGER) >> 6)) * 4294967296 + nonprofit_id AS place
FROM listings
WHERE list = 'all';
--> statement-breakpoint
-- `facets` holds filters as words of the private use area, which no query can contain: content/nonprofit/filters.ts. `words`
-- are those that a half-typed word is completed to.
CREATE VIEW `search_documents` AS
SELECT
  p.place, n.id AS nonprofit_id, n.name, n.tagline, n.mission, n.description, n.search_facets AS facets,
  n.name || ' ' || coalesce(n.tagline, '') || ' ' || coalesce(n.mission, '') || ' ' || coalesce(n.description, '') AS words
FROM search_places AS p
JOIN nonprofits AS n ON n.id = p.nonprofit_id;
--> statement-breakpoint
CREATE VIRTUAL TABLE `search_index` USING fts5(
  name, tagline, mission, description, facets,
  content = '', contentless_delete = 1, prefix = '2 3',
  tokenize = "porter unicode61 remove_diacritics 2"
);
--> statement-breakpoint
-- The words as they are written, for completing a half-typed word whose stem is shorter than what is typed. A word
-- that no longer occurs does no harm, so nothing is ever deleted here.
CREATE VIRTUAL TABLE `search_words` USING fts5(
  words, content = '', columnsize = 0, detail = none,
  tokenize = "unicode61 remove_diacritics 2"
);
--> statement-breakpoint
CREATE VIRTUAL TABLE `search_vocabulary` USING fts5vocab(search_words, row);
--> statement-breakpoint
CREATE TRIGGER `search_listed` AFTER INSERT ON `listings` WHEN NEW.list = 'all'
BEGIN
  INSERT INTO search_index (rowid, name, tagline, mission, description, facets)
  SELECT place, name, tagline, mission, description, facets
  FROM search_documents
  WHERE nonprofit_id = NEW.nonprofit_id;
  INSERT INTO search_words (rowid, words)
  SELECT place, words
  FROM search_documents
  WHERE nonprofit_id = NEW.nonprofit_id;
END;
--> statement-breakpoint
CREATE TRIGGER `search_unlisted` BEFORE DELETE ON `listings` WHEN OLD.list = 'all'
BEGIN
  DELETE FROM search_index
  WHERE rowid = (SELECT place FROM search_places WHERE nonprofit_id = OLD.nonprofit_id);
END;
--> statement-breakpoint
CREATE TRIGGER `search_moved_from` BEFORE UPDATE ON `listings` WHEN OLD.list = 'all'
BEGIN
  DELETE FROM search_index
  WHERE rowid = (SELECT place FROM search_places WHERE nonprofit_id = OLD.nonprofit_id);
END;
--> statement-breakpoint
CREATE TRIGGER `search_moved_to` AFTER UPDATE ON `listings` WHEN NEW.list = 'all'
BEGIN
  INSERT INTO search_index (rowid, name, tagline, mission, description, facets)
  SELECT place, name, tagline, mission, description, facets
  FROM search_documents
  WHERE nonprofit_id = NEW.nonprofit_id;
END;
--> statement-breakpoint
CREATE TRIGGER `search_reworded` AFTER UPDATE OF `name`, `tagline`, `mission`, `description`, `search_facets` ON `nonprofits`
WHEN (NEW.name, NEW.tagline, NEW.mission, NEW.description, NEW.search_facets)
  IS NOT (OLD.name, OLD.tagline, OLD.mission, OLD.description, OLD.search_facets)
BEGIN
  DELETE FROM search_index
  WHERE rowid = (SELECT place FROM search_places WHERE nonprofit_id = NEW.id);
  INSERT INTO search_index (rowid, name, tagline, mission, description, facets)
  SELECT place, name, tagline, mission, description, facets
  FROM search_documents
  WHERE nonprofit_id = NEW.id;
  INSERT INTO search_words (rowid, words)
  SELECT place, words
  FROM search_documents
  WHERE nonprofit_id = NEW.id;
END;
--> statement-breakpoint
-- To count a million places in lists takes a second, and every page with a number asked for it after each change.
CREATE TRIGGER `listings_are_counted` AFTER INSERT ON `listings`
BEGIN
  INSERT INTO list_totals (list, members, verified, people)
  VALUES (NEW.list, 1, -NEW.impact_order % 2, max(0, -NEW.impact_order / 2 - 1))
  ON CONFLICT (list) DO UPDATE SET
    members = members + 1, verified = verified + excluded.verified, people = people + excluded.people;
END;
--> statement-breakpoint
CREATE TRIGGER `listings_are_counted_less` AFTER DELETE ON `listings`
BEGIN
  UPDATE list_totals SET
    members = members - 1, verified = verified - (-OLD.impact_order % 2),
    people = people - max(0, -OLD.impact_order / 2 - 1)
  WHERE list = OLD.list;
END;
--> statement-breakpoint
CREATE TRIGGER `listings_are_counted_again` AFTER UPDATE OF `impact_order` ON `listings`
BEGIN
  UPDATE list_totals SET
    verified = verified + (-NEW.impact_order % 2) - (-OLD.impact_order % 2),
    people = people + max(0, -NEW.impact_order / 2 - 1) - max(0, -OLD.impact_order / 2 - 1)
  WHERE list = NEW.list;
END;
--> statement-breakpoint
CREATE TRIGGER `sitemaps_know_new` AFTER INSERT ON `nonprofits`
BEGIN
  INSERT INTO sitemap_chunks (chunk, updated_at) VALUES ((NEW.id - 1) / 1000 + 1, NEW.updated_at)
  ON CONFLICT (chunk) DO UPDATE SET updated_at = max(updated_at, excluded.updated_at);
END;
--> statement-breakpoint
CREATE TRIGGER `sitemaps_know_changed` AFTER UPDATE OF `updated_at` ON `nonprofits`
BEGIN
  UPDATE sitemap_chunks SET updated_at = max(updated_at, NEW.updated_at) WHERE chunk = (NEW.id - 1) / 1000 + 1;
END;
--> statement-breakpoint
-- A digest says that the row would change nothing. Whoever changes the profile makes that unsure.
CREATE TRIGGER `row_digests_end` AFTER UPDATE ON `nonprofits`
BEGIN
  UPDATE register_records SET row_digest = NULL WHERE nonprofit_id = NEW.id AND row_digest IS NOT NULL;
END;
