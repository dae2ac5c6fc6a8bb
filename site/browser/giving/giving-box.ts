import bs58 from "bs58";
import { donationAmount } from "#content/contract/base/money.ts";
import { connect, offerWallets, type Wallet } from "#site/browser/wallets.ts";
import { el, offerCopying, part } from "#site/browser/dom.ts";
import { pathHere, sayingOf } from "#site/browser/texts.ts";
import { openPanel } from "./panel.ts";
import { openGivingService } from "./service.ts";

for (const box of document.querySelectorAll<HTMLElement>(".giving")) enhance(box);

/** Without this script the box shows the address and what to do, and hides what needs the script. */
function enhance(box: HTMLElement): void {
  const { slug = "", wallet = "", directory = "", chain = "" } = box.dataset;
  const text = sayingOf(box);
  const ask = part(".ask", box) as HTMLFormElement;
  const amount = part("#give-amount", box) as HTMLInputElement;
  const wrongNote = part("#give-wrong", box);
  const service = openGivingService(directory, slug);
  const payment = openedPayment(wallet);
  const panel = openPanel(
    {
      ask,
      amount,
      presets: [...box.querySelectorAll<HTMLButtonElement>(".presets button")],
      payment: part(".payment", box),
      qr: part(".qr", box),
      walletLink: part(".payment a", box) as HTMLAnchorElement,
      status: part(".found", box),
      again: part(".again", box) as HTMLButtonElement,
    },
    {
      service,
      text,
      wallet,
      onAmount: (amountResult) => {
        wrongNote.textContent = amountResult.ok ? "" : amountResult.failure;
        wrongNote.hidden = amountResult.ok;
        part(".line", ask).classList.toggle("faulty", !amountResult.ok);
        if (amountResult.ok) box.classList.add("chosen");
      },
      onRequirements: payment.forget,
      onOpened: payment.keep,
      afterwards: ({ donation_id, explorer_url }) => {
        payment.forget();
        // The confirmation moves to the top. Inserting the box's next element again makes it appear without moving.
        box.classList.add("paid");
        ask.before(part(".done", box));
        box.after(...(box.nextElementSibling === null ? [] : [box.nextElementSibling]));
        scrollTo({ top: 0 });
        const query = new URLSearchParams({ nonprofit: slug, id: donation_id });
        const receipt = el("a", { href: directory + pathHere(`/receipt?${query}`) }, [
          text("receipt"),
        ]);
        if (explorer_url?.startsWith("https://") !== true) return [receipt];
        return [receipt, " · ", el("a", { href: explorer_url }, [text("transaction")])];
      },
    },
  );
  const proof = part(".tell", box) as HTMLFormElement;
  proof.addEventListener("submit", (event) => {
    event.preventDefault();
    const signature = proof.querySelector("input")?.value.trim() ?? "";
    if (signature !== "") void panel.prove(signature);
  });
  const pay = async (by: Wallet) => {
    // The panel says what is wrong with the amount, beside its field.
    if (!donationAmount(amount.value).ok) return panel.show();
    panel.say(text("wallet_asks", { name: by.name }));
    try {
      const account = await connect(by);
      const answer = await service.ask(amount.value, account.address);
      if (answer.kind !== "requirements")
        return panel.say(text(answer.kind === "away" ? "away" : "refused"), true);
      const to = answer.requirements;
      if (to.recipient !== wallet) return panel.say(text("changed"), true);
      if (to.transaction === undefined) return panel.say(text("away"), true);
      const transaction = Uint8Array.from(atob(to.transaction), (byte) => byte.charCodeAt(0));
      const transactionFeature = by.features["solana:signAndSendTransaction"];
      const [sent] = await transactionFeature.signAndSendTransaction({
        account,
        transaction,
        chain,
      });
      if (sent !== undefined) await panel.prove(bs58.encode(sent.signature));
    } catch {
      panel.say(text("wallet_not"), true);
    }
  };
  const label = (name: string) => text("wallet_pay", { name });
  const feature = "solana:signAndSendTransaction";
  offerWallets(part(".wallets", box), { feature, chain, label }, pay);
  offerCopying(part(".copy", box), part(".wallet", box));
  const amountText = new URLSearchParams(location.search).get("amount");
  if (amountText !== null) {
    amount.value = amountText;
    // As if it had been typed: the panel writes it in the service's form, without a decimal comma.
    amount.dispatchEvent(new Event("change"));
  }
  // Phones drop a page while the wallet is open: whoever may have paid already is not asked to pay again.
  const memo = payment.kept();
  if (memo !== null) {
    // In sight at once, where the confirmation will be.
    box.classList.add("chosen");
    ask.before(part(".done", box));
    void panel.find(memo);
  } else if (location.hash === "#pay") void panel.show();
}

/** The payment of a wallet whose link was opened last in this tab, by its memo. A browser may forbid to keep it. */
function openedPayment(wallet: string) {
  const name = `payment to ${wallet}`;
  const withStorage = <Value>(use: (storage: Storage) => Value): Value | null => {
    try {
      return use(sessionStorage);
    } catch {
      return null;
    }
  };
  return {
    keep: (memo: string) => void withStorage((storage) => storage.setItem(name, memo)),
    kept: () => withStorage((storage) => storage.getItem(name)),
    forget: () => void withStorage((storage) => storage.removeItem(name)),
  };
}
