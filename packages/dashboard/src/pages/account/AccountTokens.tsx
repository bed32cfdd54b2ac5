import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { AccessTokenView, TokenScope } from '@keyrail/gateway'
import { useState } from 'react'
import { callApi } from '../../control/callApi.ts'
import { tokensQuery } from '../../control/queries.ts'
import { toConfirmBody } from '../../control/toConfirmBody.ts'
import { useMay } from '../../control/useMay.ts'
import { useStored } from '../../control/useStored.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Choices } from '../../parts/Choices.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { Loaded } from '../../parts/Loaded.tsx'
import { Note, Problem } from '../../parts/Note.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { TextField } from '../../parts/TextField.tsx'
import { dayText, momentText } from '../../parts/times.ts'
import { TableHead } from '../../parts/TableHead.tsx'

const scopes: readonly { readonly value: TokenScope; readonly title: string; readonly what: string }[] = [
  { value: 'read', title: 'Read', what: 'everything that needs no password (read)' },
  { value: 'apps:write', title: 'Apps', what: 'create, change and delete apps (apps:write)' },
  { value: 'keys:write', title: 'API keys', what: 'create, change and revoke API keys (keys:write)' },
  { value: 'members', title: 'Members', what: 'invite, change and remove members of the team (members)' },
]

/** Personal access tokens, for scripts that use the control API. */
export function AccountTokens() {
  const query = useQuery(tokensQuery)
  const [made, setMade] = useState<string>()
  return (
    <>
      <PageHead
        title="Access tokens"
        windowTitle="Account: access tokens"
        lead="For scripts that manage apps and keys through the control API. A token cannot reveal keys or change the account."
      />
      {made !== undefined && (
        <Note kind="good" action={<CopyButton what="the token" text={() => made} />}>
          <p>Copy the token now. It is not shown again.</p>
          <code>{made}</code>
        </Note>
      )}
      <div className="columns">
        <Make onMade={setMade} />
        <Loaded query={query}>
          {({ items }) => (
            <Card title="Your tokens">
              {items.length === 0 ? (
                <p className="soft">
                  No tokens yet. Create one for each script or service, with only the permissions that it needs.
                </p>
              ) : (
                <table className="table cards">
                  <TableHead titles={['Label', 'Permissions', 'Last used', 'Expires']} hasButtons />
                  <tbody>
                    {items.map((token) => (
                      <Token key={token.id} token={token} />
                    ))}
                  </tbody>
                </table>
              )}
            </Card>
          )}
        </Loaded>
      </div>
    </>
  )
}

function Make({ onMade }: { readonly onMade: (token: string) => void }) {
  const queries = useQueryClient()
  const [label, setLabel, clearLabel] = useStored('new-token/label', '')
  const may = useMay()
  const [stored, setChosen] = useStored<readonly TokenScope[]>('new-token/scopes', ['read'])
  const chosen = stored.filter(may)
  const [expiry, setExpiry] = useStored('new-token/expiry', '')
  const making = useSubmit({
    check: () => ({
      label: label.trim() === '' ? 'Enter a label' : undefined,
      scopes: chosen.length === 0 ? 'Choose at least one' : undefined,
      expiresAt: expiry !== '' && new Date(`${expiry}T23:59:59`) < new Date() ? 'Must be in the future' : undefined,
    }),
    send: (password) =>
      callApi('POST /api/tokens', {
        body: {
          label: label.trim(),
          scopes: chosen,
          expiresAt: expiry === '' ? null : new Date(`${expiry}T23:59:59`).toISOString(),
          ...toConfirmBody(password),
        },
      }),
    done: async ({ token }) => {
      clearLabel()
      onMade(token)
      await queries.invalidateQueries({ queryKey: ['tokens'] })
    },
    fields: ['label', 'scopes', 'expiresAt'],
  })
  return (
    <Card title="Create a token">
      <SaveForm of={making} action="Create token">
        <div className="pair">
          <TextField
            label="Label"
            name="label"
            value={label}
            onChange={setLabel}
            required
            most={64}
            fix={making.getFix('label')}
            hint="Its purpose, such as “deploy script”."
          />
          <TextField
            label="Expires after"
            name="expiresAt"
            type="date"
            optional
            value={expiry}
            onChange={setExpiry}
            fix={making.getFix('expiresAt')}
          />
        </div>
        <Choices
          legend="Permissions"
          kind="any"
          name="scopes"
          value={chosen}
          onChange={setChosen}
          options={scopes.filter(({ value }) => may(value))}
          fix={making.getFix('scopes')}
        />
      </SaveForm>
    </Card>
  )
}

function Token({ token }: { readonly token: AccessTokenView }) {
  const queries = useQueryClient()
  const { say } = useDialogs()
  const { submit, isPending, problem } = useSubmit({
    send: () => callApi('DELETE /api/tokens/{tokenId}', { params: { tokenId: token.id } }),
    done: async () => {
      say('Removed')
      await queries.invalidateQueries({ queryKey: ['tokens'] })
    },
  })
  return (
    <tr>
      <th scope="row">
        {token.label}
        <Problem text={problem} />
      </th>
      <td data-label="Permissions">
        {token.scopes.map((scope) => scopes.find(({ value }) => value === scope)?.title ?? scope).join(', ')}
      </td>
      <td data-label="Last used">{token.seenAt === null ? 'never' : momentText(token.seenAt)}</td>
      <td data-label="Expires">{token.expiresAt === null ? 'never' : dayText(token.expiresAt)}</td>
      <td>
        <div className="row end">
          <Button size="little" kind="danger" busy={isPending} label={`Remove ${token.label}`} onClick={() => submit()}>
            Remove
          </Button>
        </div>
      </td>
    </tr>
  )
}
