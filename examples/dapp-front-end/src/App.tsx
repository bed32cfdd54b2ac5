import { useEffect, useState } from 'react'
import type { Address } from 'viem'
import { Connect } from './Connect.tsx'
import { Holdings } from './Holdings.tsx'
import type { Visitor } from './visitor.ts'

/** The page: connects a wallet, then shows its tokens. */
export function App() {
  const [visitor, setVisitor] = useState<Visitor>()
  const provider = visitor?.provider

  // The visitor can choose another account in the wallet, or disconnect.
  useEffect(() => {
    if (!provider) return undefined
    const onAccounts = ([account]: readonly Address[]): void => setVisitor(account && { account, provider })
    provider.on('accountsChanged', onAccounts)
    return () => provider.removeListener('accountsChanged', onAccounts)
  }, [provider])

  return (
    <main>
      <h1>Your token</h1>
      {visitor ? <Holdings key={visitor.account} visitor={visitor} /> : <Connect onConnect={setVisitor} />}
    </main>
  )
}
