import type { EIP1193Provider } from 'viem'

/** A wallet in this browser. */
export interface Wallet {
  readonly info: { readonly uuid: string; readonly name: string }
  readonly provider: EIP1193Provider
}

let wallets: readonly Wallet[] = []

/** The wallets that have announced themselves so far. */
export const getWallets = (): readonly Wallet[] => wallets

/** Requests wallets to announce themselves, and calls `onChange` for each new one. @returns A function that stops watching. @see EIP-6963 */
export function watchWallets(onChange: () => void): () => void {
  const onAnnounce = (event: Event): void => {
    const { detail } = event as CustomEvent<Wallet>
    if (wallets.some(({ info }) => info.uuid === detail.info.uuid)) return
    wallets = [...wallets, detail]
    onChange()
  }
  window.addEventListener('eip6963:announceProvider', onAnnounce)
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  return () => window.removeEventListener('eip6963:announceProvider', onAnnounce)
}
