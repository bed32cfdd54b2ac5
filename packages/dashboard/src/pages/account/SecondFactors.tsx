import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { FactorView, NewFactorView } from '@keyrail/gateway'
import { useState } from 'react'
import { callApi } from '../../control/callApi.ts'
import { createPasskey, hasPasskeys } from '../../control/passkeys.ts'
import { factorsQuery, sessionQuery } from '../../control/queries.ts'
import { toConfirmBody } from '../../control/toConfirmBody.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Dialog } from '../../parts/Dialog.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Note, Problem } from '../../parts/Note.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { TextField } from '../../parts/TextField.tsx'
import { dayText, lastUsedText } from '../../parts/times.ts'
import { QrCode } from './QrCode.tsx'

/** What is needed to add an app, and the password that the user was asked for. */
interface Setup {
  readonly password: string | undefined
  readonly options: Awaited<ReturnType<typeof loadOptions>>
}

const loadOptions = (password: string | undefined) =>
  callApi('POST /api/account/factors/options', { body: toConfirmBody(password) })

/** The second factors of the account, and its recovery codes. */
export function SecondFactors() {
  const queries = useQueryClient()
  const query = useQuery(factorsQuery)
  const [setup, setSetup] = useState<Setup>()
  const [isAddingPasskey, setAddingPasskey] = useState(false)
  const [codes, setCodes] = useState<readonly string[]>()
  const close = (): void => {
    setSetup(undefined)
    setAddingPasskey(false)
  }
  const startingApp = useSubmit({
    send: async (password) => ({ password, options: await loadOptions(password) }),
    done: setSetup,
  })
  const refresh = async (): Promise<void> => {
    await queries.invalidateQueries({ queryKey: factorsQuery.queryKey })
    // No part of the page for a required factor shows the session, but the next page reads it.
    await queries.invalidateQueries({ queryKey: sessionQuery.queryKey, refetchType: 'all' })
  }
  const added = async ({ recoveryCodes }: NewFactorView): Promise<void> => {
    close()
    if (recoveryCodes !== null) setCodes(recoveryCodes)
    await refresh()
  }
  return (
    <Card
      title="Second factor"
      help="second-factor"
      lead="Log-in then also needs a passkey or a code of an authenticator app, and so do changes that matter."
    >
      {codes && <RecoveryCodes codes={codes} />}
      <Loaded query={query}>
        {({ items, recoveryCodes }) => (
          <>
            {items.length > 0 && (
              <ul className="stack">
                {items.map((factor) => (
                  <FactorRow key={factor.id} factor={factor} isLast={items.length === 1} onRemoved={refresh} />
                ))}
              </ul>
            )}
            {items.length > 0 && <NewCodes left={recoveryCodes} onMade={setCodes} />}
          </>
        )}
      </Loaded>
      <Problem text={startingApp.problem} />
      <div className="row end">
        {hasPasskeys() && <Button onClick={() => setAddingPasskey(true)}>Add a passkey</Button>}
        <Button busy={startingApp.isPending} onClick={() => startingApp.submit()}>
          Add an authenticator app
        </Button>
      </div>
      {setup && <AddApp setup={setup} onClose={close} onAdded={added} />}
      {isAddingPasskey && <AddPasskey onClose={close} onAdded={added} />}
    </Card>
  )
}

interface AddProps {
  readonly setup: Setup
  readonly onClose: () => void
  readonly onAdded: (added: NewFactorView) => Promise<void>
}

function AddApp({ setup, onClose, onAdded }: AddProps) {
  const { secret, url, setup: sealed } = setup.options.totp
  const [label, setLabel] = useState('Authenticator app')
  const [code, setCode] = useState('')
  const adding = useSubmit({
    check: () => ({
      label: label.trim() === '' ? 'Enter a name' : undefined,
      code: code.trim() === '' ? 'Enter the code that the app shows' : undefined,
    }),
    send: (password = setup.password) =>
      callApi('POST /api/account/factors', {
        body: { label: label.trim(), totp: { setup: sealed, code: code.trim() }, ...toConfirmBody(password) },
      }),
    done: onAdded,
    fields: ['label', 'code'],
  })
  return (
    <Dialog title="Add an authenticator app" onClose={onClose}>
      <p className="soft">Scan the code with the app, or type the secret into it. Then enter the code that it shows.</p>
      <QrCode text={url} title="QR code of the secret" />
      <div className="address">
        <code>{secret}</code>
        <CopyButton what="the secret" text={() => secret} />
      </div>
      <SaveForm of={adding} action="Add the app" more={<Button onClick={onClose}>Cancel</Button>}>
        <TextField
          label="Code"
          name="code"
          value={code}
          onChange={setCode}
          required
          mono
          autoComplete="one-time-code"
          fix={adding.getFix('code')}
        />
        <NameField value={label} onChange={setLabel} fix={adding.getFix('label')} />
      </SaveForm>
    </Dialog>
  )
}

function AddPasskey({ onClose, onAdded }: Omit<AddProps, 'setup'>) {
  const [label, setLabel] = useState('Passkey')
  const adding = useSubmit({
    check: () => ({ label: label.trim() === '' ? 'Enter a name' : undefined }),
    send: async (password) => {
      const { passkey: options } = await loadOptions(password)
      const passkey = await createPasskey(options)
      return callApi('POST /api/account/factors', {
        body: { label: label.trim(), passkey, ...toConfirmBody(password) },
      })
    },
    done: onAdded,
    fields: ['label'],
  })
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
      <p className="soft">The browser then asks where to store it: on this device, on a phone or on a security key.</p>
      <SaveForm of={adding} action="Create the passkey" more={<Button onClick={onClose}>Cancel</Button>}>
        <NameField value={label} onChange={setLabel} fix={adding.getFix('label')} />
      </SaveForm>
    </Dialog>
  )
}

/** The name by which the user recognizes a factor. */
function NameField(props: {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly fix: string | undefined
}) {
  return <TextField label="Name" name="label" required most={64} hint="Where it is, such as “phone”." {...props} />
}

function FactorRow(props: {
  readonly factor: FactorView
  readonly isLast: boolean
  readonly onRemoved: () => Promise<void>
}) {
  const { id, kind, label, createdAt, usedAt } = props.factor
  const [isConfirming, setConfirming] = useState(false)
  const removing = useSubmit({
    send: (password) =>
      callApi('POST /api/account/factors/{factorId}/remove', {
        params: { factorId: id },
        body: toConfirmBody(password),
      }),
    done: props.onRemoved,
  })
  return (
    <li className="row">
      <div className="stack tight">
        <strong>{label}</strong>
        <span className="soft small">
          {kind === 'totp' ? 'Authenticator app' : 'Passkey'}, added {dayText(createdAt)}. {lastUsedText(usedAt)}.
        </span>
      </div>
      <Button size="little" kind="danger" label={`Remove ${label}`} onClick={() => setConfirming(true)}>
        Remove
      </Button>
      {isConfirming && (
        <ConfirmDialog
          of={removing}
          title={`Remove ${label}?`}
          lead={
            props.isLast
              ? 'It is the last one: log-in then needs only the password, and the recovery codes no longer work.'
              : 'It can no longer be used to log in.'
          }
          action="Remove"
          onClose={() => setConfirming(false)}
        />
      )}
    </li>
  )
}

function NewCodes(props: { readonly left: number; readonly onMade: (codes: readonly string[]) => void }) {
  const queries = useQueryClient()
  const { submit, isPending, problem } = useSubmit({
    send: (password) => callApi('POST /api/account/recovery-codes', { body: toConfirmBody(password) }),
    done: async ({ recoveryCodes }) => {
      props.onMade(recoveryCodes)
      await queries.invalidateQueries({ queryKey: factorsQuery.queryKey })
    },
  })
  return (
    <div className="stack tight">
      <Problem text={problem} />
      <div className="row">
        <span>{props.left === 1 ? '1 recovery code is left.' : `${props.left} recovery codes are left.`}</span>
        <Button size="little" busy={isPending} onClick={() => submit()}>
          Create new recovery codes
        </Button>
      </div>
    </div>
  )
}

function RecoveryCodes({ codes }: { readonly codes: readonly string[] }) {
  return (
    <Note kind="good" action={<CopyButton what="the recovery codes" text={() => codes.join('\n')} />}>
      <p>
        Save these recovery codes where you do not keep the second factor. Each works once if you lose it. They are not
        shown again.
      </p>
      <ul className="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
    </Note>
  )
}
