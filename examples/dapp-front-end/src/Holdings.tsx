import { useCallback, useEffect, useState } from 'react'
import { formatUnits } from 'viem'
import type { Visitor } from './App.tsx'
import { failureText } from './failureText.ts'
import { SendForm } from './SendForm.tsx'
import { readHolding } from './token.ts'
import type { Holding } from './token.ts'

/** What the visitor has, and a form to give some of it away. */
export function Holdings({ visitor }: { visitor: Visitor }) {
  const [holding, setHolding] = useState<Holding>()
  const [failure, setFailure] = useState('')

  const look = useCallback(async (): Promise<void> => {
    try {
      setHolding(await readHolding(visitor.account))
      setFailure('')
    } catch (error) {
      setFailure(failureText(error))
    }
  }, [visitor.account])

  useEffect(() => void look(), [look])

  return (
    <>
      <p>
        <code>{visitor.account}</code>
      </p>
      {holding ? (
        <p className="balance">
          {formatUnits(holding.balance, holding.decimals)} {holding.symbol}
        </p>
      ) : (
        failure === '' && <p>Reading your balance…</p>
      )}
      <p role="alert">{failure}</p>
      {failure !== '' && (
        <button type="button" onClick={() => void look()}>
          Try again
        </button>
      )}
      {holding && <SendForm visitor={visitor} holding={holding} onSent={look} />}
    </>
  )
}
