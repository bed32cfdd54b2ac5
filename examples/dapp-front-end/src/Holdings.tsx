import { useCallback, useEffect, useState } from 'react'
import { formatUnits } from 'viem'
import { getFailureText } from './failureText.ts'
import { SendForm } from './SendForm.tsx'
import { readHolding } from './token.ts'
import type { Holding } from './token.ts'
import type { Visitor } from './visitor.ts'

/** The balance of the visitor, and a form to send tokens. */
export function Holdings({ visitor }: { visitor: Visitor }) {
  const [holding, setHolding] = useState<Holding>()
  const [failure, setFailure] = useState('')

  const refresh = useCallback(async (): Promise<void> => {
    try {
      setHolding(await readHolding(visitor.account))
      setFailure('')
    } catch (error) {
      setFailure(getFailureText(error))
    }
  }, [visitor.account])

  useEffect(() => void refresh(), [refresh])

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
        <button type="button" onClick={() => void refresh()}>
          Try again
        </button>
      )}
      {holding && <SendForm visitor={visitor} holding={holding} onSent={refresh} />}
    </>
  )
}
