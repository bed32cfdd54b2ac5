import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { InviteView } from '@keyrail/gateway'
import { useState } from 'react'
import { callApi } from '../../control/callApi.ts'
import { deploymentQuery, invitesQuery } from '../../control/queries.ts'
import { toConfirmBody } from '../../control/toConfirmBody.ts'
import { useStored } from '../../control/useStored.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Choices } from '../../parts/Choices.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { Loaded } from '../../parts/Loaded.tsx'
import { Note, Problem } from '../../parts/Note.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { SecretLink } from '../../parts/SecretLink.tsx'
import { SelectField } from '../../parts/SelectField.tsx'
import { TextField } from '../../parts/TextField.tsx'
import { dayText, momentText } from '../../parts/times.ts'

/** The open invites, and a form to create one. */
export function OperatorInvites() {
  const query = useQuery(invitesQuery)
  const { data: deployment } = useQuery(deploymentQuery)
  return (
    <>
      <PageHead title="Invites" windowTitle="Operator: invites" />
      {deployment?.signUp === 'open' && <Note>Sign-up is open, so users don’t need an invite.</Note>}
      <div className="columns">
        <Make />
        <Loaded query={query}>
          {({ items }) => (
            <Card title="Open invites">
              {items.length === 0 ? (
                <p className="soft">No open invites. Create one for each person who should sign up.</p>
              ) : (
                <table className="table cards">
                  <thead>
                    <tr>
                      <th scope="col">For</th>
                      <th scope="col">Created</th>
                      <th scope="col">Expires</th>
                      <td />
                    </tr>
                  </thead>
                  <tbody>
                    {items.map((invite) => (
                      <Invite key={invite.id} invite={invite} />
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

function Make() {
  const queries = useQueryClient()
  const [email, setEmail, clearEmail] = useStored('new-invite/email', '')
  const [days, setDays] = useState('7')
  const [isSent, setSent] = useState(false)
  const { data: deployment } = useQuery(deploymentQuery)
  const { say } = useDialogs()
  const [link, setLink] = useState<{ readonly url: string; readonly expiresAt: string }>()
  const making = useSubmit({
    send: (password) =>
      callApi('POST /api/admin/invites', {
        body: {
          days: Number(days),
          ...(email.trim() && { email: email.trim() }),
          ...(isSent && { send: true }),
          ...toConfirmBody(password),
        },
      }),
    done: async (made) => {
      clearEmail()
      if (isSent) say('Invite sent')
      setLink(isSent ? undefined : made)
      await queries.invalidateQueries({ queryKey: ['admin', 'invites'] })
    },
    fields: ['email', 'days'],
  })
  return (
    <Card title="Invite a user" lead="Creates a link with which one person can sign up.">
      {link && <SecretLink {...link} what="the invite" />}
      <SaveForm of={making} action="Create invite">
        <div className="pair">
          <TextField
            label="Only for this email address"
            name="email"
            type="email"
            optional
            value={email}
            onChange={setEmail}
            fix={making.getFix('email')}
          />
          <SelectField
            label="Expires after"
            name="days"
            value={days}
            onChange={setDays}
            options={['1', '7', '30'].map((value) => ({ value, title: value === '1' ? '1 day' : `${value} days` }))}
            fix={making.getFix('days')}
          />
        </div>
        {deployment?.email && (
          <Choices
            legend="Delivery"
            kind="any"
            name="send"
            value={isSent ? ['send'] : []}
            onChange={(chosen) => setSent(chosen.includes('send'))}
            options={[{ value: 'send', title: 'Send the invite by email' }]}
          />
        )}
      </SaveForm>
    </Card>
  )
}

function Invite({ invite }: { readonly invite: InviteView }) {
  const queries = useQueryClient()
  const { say } = useDialogs()
  const whom = invite.email ?? 'anyone with the link'
  const { submit, isPending, problem } = useSubmit({
    send: () => callApi('DELETE /api/admin/invites/{inviteId}', { params: { inviteId: invite.id } }),
    done: async () => {
      say('Invite revoked')
      await queries.invalidateQueries({ queryKey: ['admin', 'invites'] })
    },
  })
  return (
    <tr>
      <th scope="row">
        {whom}
        <Problem text={problem} />
      </th>
      <td data-label="Created">{dayText(invite.createdAt)}</td>
      <td data-label="Expires">{momentText(invite.expiresAt)}</td>
      <td>
        <div className="row end">
          <Button
            size="little"
            kind="danger"
            busy={isPending}
            label={`Revoke the invite for ${whom}`}
            onClick={() => submit()}
          >
            Revoke
          </Button>
        </div>
      </td>
    </tr>
  )
}
