import { useState, useSyncExternalStore } from 'react'
import { createWalletClient, custom } from 'viem'
import { getFailureText } from './failureText.ts'
import type { Visitor } from './visitor.ts'
import { getWallets, watchWallets } from './wallets.ts'
import type { Wallet } from './wallets.ts'

/** A button for each wallet in this browser. */
export function Connect({ onConnect }: { onConnect: (visitor: Visitor) => void }) {
  const wallets = useSyncExternalStore(watchWallets, getWallets)
  const [failure, setFailure] = useState('')

  const connect = async ({ provider }: Wallet): Promise<void> => {
    setFailure('')
    try {
      const [account] = await createWalletClient({ transport: custom(provider) }).requestAddresses()
      if (account) onConnect({ account, provider })
    } catch (error) {
      setFailure(getFailureText(error))
    }
  }

  return (
    <>
      {wallets.length === 0 && <p>No wallet was found in this browser. Install one and reload this page.</p>}
      {wallets.map((wallet) => (
        <button key={wallet.info.uuid} type="button" onClick={() => void connect(wallet)}>
          Connect {wallet.info.name}
        </button>
      ))}
      <p role="alert">{failure}</p>
    </>
  )
}
