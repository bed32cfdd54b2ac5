import type { EIP1193Provider } from 'viem'

/** A wallet in this browser. */
export interface Wallet {
  readonly info: { readonly uuid: string; readonly name: string }
  readonly provider: EIP1193Provider
}

let wallets: readonly Wallet[] = []

/** Those that have announced themselves so far. */
export const currentWallets = (): readonly Wallet[] => wallets

/** Asks wallets to announce themselves, and tells of each that does. @returns Stops it. @see EIP-6963 */
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
