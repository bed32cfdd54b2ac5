import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { JwtKeyView, JwtTestView } from '@keyrail/gateway'
import { useState } from 'react'
import { callApi } from '../../control/callApi.ts'
import { jwtKeysQuery } from '../../control/queries.ts'
import { useStored } from '../../control/useStored.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { ConfirmedButton } from '../../parts/ConfirmedButton.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { Loaded } from '../../parts/Loaded.tsx'
import { Needs } from '../../parts/Needs.tsx'
import { Note, Problem } from '../../parts/Note.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { TextField } from '../../parts/TextField.tsx'
import { dayText, momentText } from '../../parts/times.ts'
import { JwtChecks } from './JwtChecks.tsx'
import { useApp } from './useApp.ts'

/** The public keys that verify an app's tokens, and a field to test a token. */
export function AppJwtKeys() {
  const app = useApp()
  const query = useQuery(jwtKeysQuery(app.id))
  return (
    <Loaded query={query}>
      {({ items, max }) => (
        <>
          <Card
            title="JWT keys"
            lead="Your server signs tokens, and this service verifies them with the public key that you import."
            aside={
              <span className="badge">
                {items.length} of {max}
              </span>
            }
          >
            {items.length === 0 && <p className="soft">None is imported yet.</p>}
            {items.map((key) => (
              <JwtKey key={key.kid} appId={app.id} jwtKey={key} />
            ))}
            {items.length > 0 && (
              <p className="hint">
                {app.requireJwt ? 'Each call needs a token. ' : 'Calls without a token are still accepted. '}
                <Link to="/apps/$appId/settings/advanced" params={{ appId: app.id }}>
                  Require JWT
                </Link>
              </p>
            )}
          </Card>
          {items.length < max && (
            <Needs scope="apps:write">
              <Import appId={app.id} />
            </Needs>
          )}
          <JwtChecks app={app} />
          <Try appId={app.id} checks={JSON.stringify([app.jwt, items.map(({ kid }) => kid)])} />
        </>
      )}
    </Loaded>
  )
}

function JwtKey({ appId, jwtKey }: { readonly appId: string; readonly jwtKey: JwtKeyView }) {
  const queries = useQueryClient()
  const { say } = useDialogs()
  return (
    <div className="card slot">
      <dl className="facts">
        <div className="wide">
          <dt>Key id (kid)</dt>
          <dd className="row">
            <code>{jwtKey.kid}</code>
            <CopyButton what="the key id" text={() => jwtKey.kid} />
          </dd>
        </div>
        <div>
          <dt>Label</dt>
          <dd>{jwtKey.label || '–'}</dd>
        </div>
        <div>
          <dt>Algorithm</dt>
          <dd>{jwtKey.algorithms.join(', ')}</dd>
        </div>
        <div>
          <dt>Imported</dt>
          <dd>{dayText(jwtKey.createdAt)}</dd>
        </div>
        <div className="wide">
          <dt>Fingerprint (SHA-256)</dt>
          <dd>
            <code>{jwtKey.fingerprint}</code>
          </dd>
        </div>
      </dl>
      <Needs scope="apps:write">
        <ConfirmedButton
          kind="danger"
          size="little"
          label={`Remove ${jwtKey.kid}`}
          title="Remove this JWT key?"
          lead="Tokens that it signed will be rejected."
          action="Remove"
          send={() => callApi('DELETE /api/apps/{appId}/jwt-keys/{kid}', { params: { appId, kid: jwtKey.kid } })}
          done={() => {
            say('Removed')
            return queries.invalidateQueries({ queryKey: ['app', appId] })
          }}
        >
          Remove
        </ConfirmedButton>
      </Needs>
    </div>
  )
}

function Import({ appId }: { readonly appId: string }) {
  const queries = useQueryClient()
  const { say } = useDialogs()
  // Someone may paste a private key.
  const [pem, setPem, clearPem] = useStored(`${appId}/pem`, '', { inMemory: true })
  const [label, setLabel, clearLabel] = useStored(`${appId}/pem-label`, '')
  // A private key must not be sent, so it is rejected here.
  const isPrivate = /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)
  const importing = useSubmit({
    check: () => ({
      pem: isPrivate
        ? 'This is a private key. It was not sent. Keep it on your server, and paste the public key'
        : pem.trim() === ''
          ? 'Paste a public key'
          : undefined,
    }),
    send: () =>
      callApi('POST /api/apps/{appId}/jwt-keys', {
        params: { appId },
        body: { pem, ...(label.trim() && { label: label.trim() }) },
      }),
    done: async () => {
      clearPem()
      clearLabel()
      say('Imported')
      await queries.invalidateQueries({ queryKey: ['app', appId] })
    },
    fields: ['pem', 'label'],
  })
  return (
    <Card title="Import a key" lead="RSA of 2048 bits or more, P-256 or Ed25519.">
      <SaveForm of={importing} action="Import">
        <TextField
          label="Public key (PEM)"
          name="pem"
          lines
          mono
          value={pem}
          onChange={setPem}
          required
          fix={importing.getFix('pem')}
          placeholder="-----BEGIN PUBLIC KEY-----"
        />
        <TextField
          label="Label"
          name="label"
          optional
          value={label}
          onChange={setLabel}
          most={64}
          fix={importing.getFix('label')}
        />
      </SaveForm>
    </Card>
  )
}

function Try({ appId, checks }: { readonly appId: string; readonly checks: string }) {
  const [token, setToken] = useState('')
  const [tried, setTried] = useState<{ readonly result: JwtTestView; readonly checks: string }>()
  // Results for other keys or another audience are outdated.
  const result = tried?.checks === checks ? tried.result : undefined
  const { submit, isPending, problem, getFix } = useSubmit({
    check: () => ({ token: token.trim() === '' ? 'Paste a token' : undefined }),
    send: async () => ({
      result: await callApi('POST /api/apps/{appId}/jwt-keys/test', {
        params: { appId },
        body: { token: token.trim() },
      }),
      checks,
    }),
    done: setTried,
    fields: ['token'],
  })
  return (
    <Card title="Test a token" lead="Verifies a token as in a call. It is not stored.">
      <form className="stack" noValidate onSubmit={submit}>
        <Problem text={problem} />
        <TextField
          label="Token"
          name="token"
          lines
          mono
          value={token}
          onChange={(value) => {
            setToken(value)
            setTried(undefined)
          }}
          fix={getFix('token')}
        />
        <div role="status">
          {result &&
            (result.ok ? (
              <Note kind="good">
                The token is valid until {momentText(result.expiresAt)}, by the key {result.kid}.
                {result.narrows && ' It allows less than the app does.'}
              </Note>
            ) : (
              <Note kind="warn">
                The token is rejected at the check <strong>{result.check}</strong>
                {result.message === result.check ? ': it is no JWT' : `: ${result.message}`}.
              </Note>
            ))}
        </div>
        <div className="row end">
          <Button type="submit" busy={isPending}>
            Test
          </Button>
        </div>
      </form>
    </Card>
  )
}
