import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ActingAccountView, MemberInviteView, MemberRole, MemberView } from '@keyrail/gateway'
import { useRef, useState } from 'react'
import { callApi } from '../../control/callApi.ts'
import { chooseAccount } from '../../control/chosenAccount.ts'
import { deploymentQuery, memberInvitesQuery, membersQuery, sessionQuery } from '../../control/queries.ts'
import { useStored } from '../../control/useStored.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Choices } from '../../parts/Choices.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { Loaded } from '../../parts/Loaded.tsx'
import { Problem } from '../../parts/Note.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { SecretLink } from '../../parts/SecretLink.tsx'
import { SelectField } from '../../parts/SelectField.tsx'
import { TextField } from '../../parts/TextField.tsx'
import { dayText, momentText } from '../../parts/times.ts'

const roles: readonly { readonly value: MemberRole; readonly title: string }[] = [
  { value: 'owner', title: 'Owner' },
  { value: 'admin', title: 'Admin' },
  { value: 'developer', title: 'Developer' },
  { value: 'viewer', title: 'Viewer' },
]

/** The roles that a member with this role can give. */
const getGrantable = (own: MemberRole) => (own === 'owner' ? roles : roles.filter(({ value }) => value !== 'owner'))
const canManage = ({ kind, role }: ActingAccountView): boolean =>
  kind === 'team' && (role === 'owner' || role === 'admin')

/** The members of the account, and invites. A personal account has none: its page creates a team. */
export function AccountMembers() {
  const session = useQuery(sessionQuery)
  const members = useQuery(membersQuery)
  return (
    <Loaded query={session}>
      {({ account, actingFor }) => (
        <>
          <PageHead
            title="Members"
            windowTitle="Account: members"
            lead={
              actingFor.kind === 'personal'
                ? 'This is your personal account. A team has apps and keys that several people share.'
                : `Who can use the apps and keys of ${actingFor.name}. Viewers read, developers change apps and keys and can reveal them, admins manage members, owners can do everything.`
            }
          />
          {actingFor.kind === 'personal' ? (
            <CreateTeam />
          ) : (
            <div className="columns">
              {canManage(actingFor) && <Invite own={actingFor} />}
              <Loaded query={members}>
                {({ items }) => (
                  <Card title="Members">
                    <table className="table cards">
                      <thead>
                        <tr>
                          <th scope="col">Email address</th>
                          <th scope="col">Role</th>
                          <th scope="col">Since</th>
                          <td />
                        </tr>
                      </thead>
                      <tbody>
                        {items.map((member) => (
                          <Member
                            key={member.userId}
                            member={member}
                            own={actingFor}
                            isSelf={member.userId === account.id}
                          />
                        ))}
                      </tbody>
                    </table>
                  </Card>
                )}
              </Loaded>
              {canManage(actingFor) && <Invites />}
              {actingFor.role === 'owner' && <DeleteTeam name={actingFor.name} />}
            </div>
          )}
        </>
      )}
    </Loaded>
  )
}

function CreateTeam() {
  const [name, setName, clearName] = useStored('new-team/name', '')
  const making = useSubmit({
    check: () => ({ name: name.trim() === '' ? 'Enter a name' : undefined }),
    send: () => callApi('POST /api/accounts', { body: { name: name.trim() } }),
    done: ({ id }) => {
      clearName()
      chooseAccount(id)
    },
    fields: ['name'],
  })
  return (
    <Card title="Create a team" lead="You become its owner. It shares the limits of your personal account.">
      <SaveForm of={making} action="Create team">
        <TextField
          label="Name"
          name="name"
          value={name}
          onChange={setName}
          required
          most={64}
          fix={making.getFix('name')}
        />
      </SaveForm>
    </Card>
  )
}

function Member({
  member,
  own,
  isSelf,
}: {
  readonly member: MemberView
  readonly own: ActingAccountView
  readonly isSelf: boolean
}) {
  const queries = useQueryClient()
  const { say } = useDialogs()
  const [isOpen, setOpen] = useState(false)
  const { userId, email, role } = member
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ['members'] }),
      queries.invalidateQueries({ queryKey: ['session'] }),
    ])
  const changing = useSubmitRole(userId, refresh)
  const ending = useSubmit({
    send: (password) =>
      isSelf
        ? callApi('POST /api/team/leave')
        : callApi('POST /api/members/{userId}/remove', {
            params: { userId },
            body: { ...(password !== undefined && { password }) },
          }),
    done: async () => {
      setOpen(false)
      if (isSelf) return chooseAccount(undefined)
      say('Removed')
      return refresh()
    },
  })
  const mayChange = canManage(own) && (own.role === 'owner' || role !== 'owner')
  return (
    <tr>
      <th scope="row">
        {email}
        {isSelf && ' (you)'}
        <Problem text={changing.problem} />
      </th>
      <td data-label="Role">
        {mayChange ? (
          <select
            className="input"
            aria-label={`Role of ${email}`}
            value={role}
            disabled={changing.isPending}
            onChange={({ target }) => changing.change(target.value as MemberRole)}
          >
            {getGrantable(own.role).map(({ value, title }) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        ) : (
          roles.find(({ value }) => value === role)?.title
        )}
      </td>
      <td data-label="Since">{dayText(member.createdAt)}</td>
      <td>
        {(isSelf || mayChange) && (
          <div className="row end">
            <Button
              size="little"
              kind="danger"
              label={isSelf ? 'Leave the team' : `Remove ${email}`}
              onClick={() => {
                ending.clear()
                setOpen(true)
              }}
            >
              {isSelf ? 'Leave' : 'Remove'}
            </Button>
          </div>
        )}
        {isOpen && (
          <ConfirmDialog
            of={ending}
            title={isSelf ? 'Leave the team?' : `Remove ${email}?`}
            lead={`${isSelf ? 'You lose' : `${email} loses`} access to the team, and ${isSelf ? 'your' : 'the'} access tokens for it stop working.`}
            action={isSelf ? 'Leave' : 'Remove'}
            onClose={() => setOpen(false)}
          />
        )}
      </td>
    </tr>
  )
}

/** Changes the role of a member as soon as it is chosen. */
function useSubmitRole(userId: string, done: () => Promise<unknown>) {
  const { say } = useDialogs()
  const chosen = useRef<MemberRole>('viewer')
  const { submit, isPending, problem } = useSubmit({
    send: (password) =>
      callApi('PUT /api/members/{userId}/role', {
        params: { userId },
        body: { role: chosen.current, ...(password !== undefined && { password }) },
      }),
    done: async () => {
      say('Role changed')
      await done()
    },
  })
  return {
    isPending,
    problem,
    change: (role: MemberRole) => {
      chosen.current = role
      submit()
    },
  }
}

function Invite({ own }: { readonly own: ActingAccountView }) {
  const queries = useQueryClient()
  const { say } = useDialogs()
  const { data: deployment } = useQuery(deploymentQuery)
  const [email, setEmail, clearEmail] = useStored('new-member/email', '')
  const [role, setRole] = useState<MemberRole>('developer')
  const [isSent, setSent] = useState(false)
  const [link, setLink] = useState<{ readonly url: string; readonly expiresAt: string }>()
  const making = useSubmit({
    check: () => ({ email: email.trim() === '' ? 'Enter an email address' : undefined }),
    send: (password) =>
      callApi('POST /api/members/invites', {
        body: {
          email: email.trim(),
          role,
          ...(isSent && { send: true }),
          ...(password !== undefined && { password }),
        },
      }),
    done: async ({ url, invite }) => {
      clearEmail()
      if (isSent) say('Invite sent')
      setLink(isSent ? undefined : { url, expiresAt: invite.expiresAt })
      await queries.invalidateQueries({ queryKey: ['members'] })
    },
    fields: ['email', 'role'],
  })
  return (
    <Card title="Invite a member" lead="Only the user with this email address can use the invite.">
      {link && <SecretLink {...link} what="the invite" />}
      <SaveForm of={making} action="Create invite">
        <div className="pair">
          <TextField
            label="Email address"
            name="email"
            type="email"
            value={email}
            onChange={setEmail}
            required
            fix={making.getFix('email')}
          />
          <SelectField
            label="Role"
            name="role"
            value={role}
            onChange={setRole}
            options={getGrantable(own.role)}
            fix={making.getFix('role')}
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

function Invites() {
  const query = useQuery(memberInvitesQuery)
  return (
    <Loaded query={query}>
      {({ items }) => (
        <Card title="Open invites">
          {items.length === 0 ? (
            <p className="soft">No open invites.</p>
          ) : (
            <table className="table cards">
              <thead>
                <tr>
                  <th scope="col">For</th>
                  <th scope="col">Role</th>
                  <th scope="col">Expires</th>
                  <td />
                </tr>
              </thead>
              <tbody>
                {items.map((invite) => (
                  <OpenInvite key={invite.id} invite={invite} />
                ))}
              </tbody>
            </table>
          )}
        </Card>
      )}
    </Loaded>
  )
}

function OpenInvite({ invite: { id, email, role, expiresAt } }: { readonly invite: MemberInviteView }) {
  const queries = useQueryClient()
  const { say } = useDialogs()
  const { submit, isPending, problem } = useSubmit({
    send: () => callApi('DELETE /api/members/invites/{inviteId}', { params: { inviteId: id } }),
    done: async () => {
      say('Invite revoked')
      await queries.invalidateQueries({ queryKey: ['members'] })
    },
  })
  return (
    <tr>
      <th scope="row">
        {email}
        <Problem text={problem} />
      </th>
      <td data-label="Role">{roles.find(({ value }) => value === role)?.title}</td>
      <td data-label="Expires">{momentText(expiresAt)}</td>
      <td>
        <div className="row end">
          <Button
            size="little"
            kind="danger"
            busy={isPending}
            label={`Revoke the invite for ${email}`}
            onClick={() => submit()}
          >
            Revoke
          </Button>
        </div>
      </td>
    </tr>
  )
}

function DeleteTeam({ name }: { readonly name: string }) {
  const [typed, setTyped] = useState('')
  const deleting = useSubmit({
    check: () => ({ name: typed.trim() === name ? undefined : `Enter ${name}` }),
    send: (password) =>
      callApi('POST /api/team/delete', { body: { name: typed.trim(), ...(password !== undefined && { password }) } }),
    done: () => chooseAccount(undefined),
    fields: ['name'],
  })
  return (
    <Card title="Delete the team" lead="Its apps and keys stop working at once. The audit log stays with the operator.">
      <SaveForm of={deleting} action="Delete the team">
        <TextField
          label="Name of the team"
          name="name"
          value={typed}
          onChange={setTyped}
          required
          fix={deleting.getFix('name')}
        />
      </SaveForm>
    </Card>
  )
}
