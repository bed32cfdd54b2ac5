import { useState } from 'react'
import type { FormEvent } from 'react'
import { isAddress, parseUnits } from 'viem'
import { getFailureText } from './failureText.ts'
import { sendTokens, waitForTransfer } from './token.ts'
import type { Holding } from './token.ts'
import type { Visitor } from './visitor.ts'

interface SendFormProps {
  readonly visitor: Visitor
  readonly holding: Holding
  readonly onSent: () => Promise<void>
}

/** A form for the recipient and the amount. */
export function SendForm({ visitor, holding: { decimals, symbol }, onSent }: SendFormProps) {
  const [to, setTo] = useState('')
  const [amount, setAmount] = useState('')
  const [step, setStep] = useState('')
  const [failure, setFailure] = useState('')
  const [isBusy, setIsBusy] = useState(false)

  const send = async (): Promise<void> => {
    if (!isAddress(to)) return setFailure('Enter an address: 0x and 40 hex digits.')
    if (!/^\d+([.]\d+)?$/.test(amount)) return setFailure('Enter an amount, such as 1.5.')
    setFailure('')
    setIsBusy(true)
    try {
      setStep('Confirm the transfer in your wallet.')
      const hash = await sendTokens(visitor.provider, { ...visitor, to, value: parseUnits(amount, decimals) })
      setStep('Sent. Waiting for the next block…')
      const succeeded = await waitForTransfer(hash)
      setStep(succeeded ? `Done: ${amount} ${symbol} sent.` : '')
      if (!succeeded) setFailure('The token rejected the transfer. Nothing was moved.')
      await onSent()
    } catch (error) {
      setStep('')
      setFailure(getFailureText(error))
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
