import { useState } from 'react'
import type { FormEvent } from 'react'
import { isAddress, parseUnits } from 'viem'
import type { Visitor } from './App.tsx'
import { failureText } from './failureText.ts'
import { sendTokens, whenSettled } from './token.ts'
import type { Holding } from './token.ts'

interface SendFormProps {
  readonly visitor: Visitor
  readonly holding: Holding
  readonly onSent: () => Promise<void>
}

/** To whom, and how much. */
export function SendForm({ visitor, holding: { decimals, symbol }, onSent }: SendFormProps) {
  const [to, setTo] = useState('')
  const [amount, setAmount] = useState('')
  const [step, setStep] = useState('')
  const [failure, setFailure] = useState('')
  const [isBusy, setIsBusy] = useState(false)

  const send = async (): Promise<void> => {
    if (!isAddress(to)) return setFailure('To whom? An address is 0x and 40 digits.')
    if (!/^\d+([.]\d+)?$/.test(amount)) return setFailure('How much? A number, such as 1.5.')
    setFailure('')
    setIsBusy(true)
    try {
      setStep('Confirm it in your wallet.')
      const hash = await sendTokens(visitor.provider, { ...visitor, to, value: parseUnits(amount, decimals) })
      setStep('On its way. This page waits for the next block.')
      const isMade = await whenSettled(hash)
      setStep(isMade ? `Done: ${amount} ${symbol} are theirs.` : '')
      if (!isMade) setFailure('The token refused it in the end. Nothing was moved.')
      await onSent()
    } catch (error) {
      setStep('')
      setFailure(failureText(error))
    }
    setIsBusy(false)
  }

  const onSubmit = (event: FormEvent): void => {
    event.preventDefault()
    void send()
  }

  return (
    <form onSubmit={onSubmit} noValidate>
      <label>
        To
        <input value={to} onChange={({ target }) => setTo(target.value.trim())} autoComplete="off" spellCheck={false} />
      </label>
      <label>
        Amount
        <input value={amount} onChange={({ target }) => setAmount(target.value.trim())} inputMode="decimal" />
      </label>
      <button type="submit" disabled={isBusy}>
        Send {symbol}
      </button>
      <p role="status">{step}</p>
      <p role="alert">{failure}</p>
    </form>
  )
}
