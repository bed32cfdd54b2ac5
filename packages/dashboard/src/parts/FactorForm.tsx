import { useEffect, useState } from 'react'
import type { ControlApi, FactorOptionsView } from '@keyrail/gateway'
import { isControlFailure } from '../control/controlFailure.ts'
import { getPasskey, hasPasskeys } from '../control/passkeys.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Button } from './Button.tsx'
import { Problem } from './Note.tsx'
import { TextField } from './TextField.tsx'

type FactorProof = ControlApi['POST /api/session/confirm']['body']

/** Proves a second factor, by a passkey or a code. */
export function FactorForm<T>(props: {
  /** Gets what is possible. Called again for each use of a passkey, whose challenge works once. */
  readonly load: () => Promise<FactorOptionsView>
  readonly send: (proof: FactorProof) => Promise<T>
  readonly done: (response: T) => unknown
  readonly onCancel?: () => void
}) {
  const { load, send, done, onCancel } = props
  const [options, setOptions] = useState<FactorOptionsView>()
  const [failure, setFailure] = useState<string>()
  const [code, setCode] = useState('')
  useEffect(() => {
    load().then(setOptions, (error: unknown) =>
      setFailure(isControlFailure(error) ? error.message : 'The service does not respond. Try again.'),
    )
  }, [load])
  const sendingCode = useSubmit({
    check: () => ({ code: code.trim() === '' ? 'Enter a code' : undefined }),
    send: () => send({ code: code.trim() }),
    done,
    fields: ['code'],
  })
  const usingPasskey = useSubmit({
    send: async () => {
      const { passkey } = await load()
      return send({ passkey: await getPasskey(passkey) })
    },
    done,
  })
  if (failure !== undefined) return <Problem text={failure} />
  if (options === undefined) return <p className="soft">One moment …</p>
  const isApp = options.kinds.includes('totp')
  return (
    <div className="stack">
      {options.passkey !== null && hasPasskeys() && (
        <>
          <Problem text={usingPasskey.problem} />
          <Button kind="primary" busy={usingPasskey.isPending} onClick={() => usingPasskey.submit()}>
            Use a passkey
          </Button>
        </>
      )}
      <form className="stack" noValidate onSubmit={sendingCode.submit}>
        <Problem text={sendingCode.problem} />
        <TextField
          label={isApp ? 'Code' : 'Recovery code'}
          name="code"
          value={code}
          onChange={setCode}
          required
          mono
          autoComplete="one-time-code"
          fix={sendingCode.getFix('code')}
          hint={isApp ? 'From your authenticator app, or a recovery code.' : 'If you do not have your passkey.'}
        />
        <div className="row end">
          {onCancel && <Button onClick={onCancel}>Cancel</Button>}
          <Button kind={options.passkey === null ? 'primary' : undefined} type="submit" busy={sendingCode.isPending}>
            Continue
          </Button>
        </div>
      </form>
    </div>
  )
}
