// For a page: a wallet registers itself with the stock library of the Wallet Standard.
import { registerWallet } from "@wallet-standard/wallet";

globalThis.registerWallet = registerWallet;
