import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { AccountView } from '@keyrail/gateway'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { callApi } from '../../control/callApi.ts'
import { deploymentQuery, sessionQuery, sessionsQuery } from '../../control/queries.ts'
import { changeSession } from '../../control/sessionChange.ts'
import { useDraft } from '../../control/useDraft.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Dialog } from '../../parts/Dialog.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { ConnectedIdentities } from '../../parts/ConnectedIdentities.tsx'
import { EmailField } from '../../parts/EmailField.tsx'
import { Note, Problem } from '../../parts/Note.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { PasswordField } from '../../parts/PasswordField.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { SignOnButton } from '../../parts/SignOnButton.tsx'
import { SecondFactors } from './SecondFactors.tsx'
import { Sessions } from './Sessions.tsx'

/** The sessions, the email address, single sign-on, the password, second factors, and the deletion of the account. */
export function AccountSecurity() {
  const { data } = useQuery(sessionQuery)
  const { data: deployment } = useQuery(deploymentQuery)
  const hasPassword = deployment?.passwordLogin !== false && data?.account.hasPassword !== false
  return (
    <>
      <PageHead title="Security" windowTitle="Account: security" lead={data?.account.email} />
      <Sessions />
      <div className="columns">
        {deployment?.email && data && <ChangeEmail account={data.account} />}
        {deployment?.singleSignOn && <Connect label={deployment.singleSignOn.label} />}
        {hasPassword && <ChangePassword />}
        <SecondFactors />
        <DeleteAccount hasPassword={hasPassword} />
      </div>
    </>
  )
}

function ChangeEmail({ account }: { readonly account: AccountView }) {
  const draft = useDraft(`${account.id}/email`, { email: account.email })
  const { email } = draft.values
  const [sentTo, setSentTo] = useState('')
  const isOther = email.trim().toLowerCase() !== account.email.toLowerCase()
  const requesting = useSubmit({
    check: () => ({ email: email.trim() === '' ? 'Enter an email address' : undefined }),
    send: (password) =>
      callApi('POST /api/account/email', { body: { email, ...(password !== undefined && { password }) } }),
    done: () => {
      setSentTo(email.trim())
      draft.clear()
    },
    fields: ['email'],
  })
  return (
    <Card
      title="Email address"
      lead={account.emailVerified ? 'The address is confirmed.' : 'The address is not confirmed yet.'}
    >
      {sentTo !== '' && (
        <Note kind="good">
          We sent a link to {sentTo}. Open it in this browser within one hour to confirm the address.
        </Note>
      )}
      <SaveForm of={requesting} action={isOther ? 'Send a link to the new address' : 'Send a link to confirm it'}>
        <EmailField
          value={email}
          onChange={(typed) => draft.change({ email: typed })}
          fix={requesting.getFix('email')}
        />
      </SaveForm>
    </Card>
  )
}

function Connect({ label }: { readonly label: string }) {
  return (
    <Card
      title="Single sign-on"
      lead={`With ${label}, you can log in to this account without a password. The email address there must be the same, and verified.`}
    >
      <ConnectedIdentities />
      <div className="row end">
        <SignOnButton verb="Connect" connect back="/account/security" />
      </div>
    </Card>
  )
}

function ChangePassword() {
  const queries = useQueryClient()
  const { say } = useDialogs()
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const changing = useSubmit({
    check: () => ({
      current: current === '' ? 'Enter your current password' : undefined,
      next: next === '' ? 'Choose a new password' : undefined,
    }),
    send: () => callApi('POST /api/account/password', { body: { current, next } }),
    done: (session) => {
      queries.setQueryData(sessionQuery.queryKey, session)
      void queries.invalidateQueries({ queryKey: sessionsQuery.queryKey })
      setCurrent('')
      setNext('')
      say('Password changed. All other sessions are logged out, and your access tokens are removed.')
    },
    fields: ['current', 'next', 'password'],
  })
  return (
    <Card title="Change the password" lead="All other sessions are logged out, and your access tokens are removed.">
      <SaveForm of={changing} action="Change the password">
        <div className="pair">
          <PasswordField
            kind="current"
            label="Current password"
            name="current"
            value={current}
            onChange={setCurrent}
            fix={changing.getFix('current')}
          />
          <PasswordField
            kind="new"
            label="New password"
            name="next"
            value={next}
            onChange={setNext}
            fix={changing.getFix('next') ?? changing.getFix('password')}
            hint="At least 8 characters."
          />
        </div>
      </SaveForm>
    </Card>
  )
}

function DeleteAccount({ hasPassword }: { readonly hasPassword: boolean }) {
  const queries = useQueryClient()
  const router = useRouter()
  const [isConfirming, setConfirming] = useState(false)
  const [password, setPassword] = useState('')
  const { submit, isPending, problem, getFix } = useSubmit({
    check: () => ({ password: hasPassword && password === '' ? 'Enter your password' : undefined }),
    send: () => callApi('POST /api/account/delete', { body: hasPassword ? { password } : {} }),
    done: async () => {
      changeSession(queries, { notifyTabs: true })
      await router.navigate({ to: '/log-in', replace: true })
    },
    fields: ['password'],
  })
  return (
    <Card
      title="Delete the account"
      lead="All its apps and API keys are deleted, and calls with them are rejected at once. This cannot be undone."
    >
      <div className="row end">
        <Button kind="danger" onClick={() => setConfirming(true)}>
          Delete the account
        </Button>
      </div>
      {isConfirming && (
        <Dialog title="Delete the account?" onClose={() => setConfirming(false)}>
          <form className="stack" noValidate onSubmit={submit}>
            <p className="soft">Every program that uses one of your keys stops working at once.</p>
            <Problem text={problem} />
            {hasPassword && (
              <PasswordField kind="current" value={password} onChange={setPassword} fix={getFix('password')} />
            )}
            <div className="row end">
              <Button onClick={() => setConfirming(false)}>Cancel</Button>
              <Button kind="dangerPrimary" type="submit" busy={isPending}>
                Delete the account
              </Button>
            </div>
          </form>
        </Dialog>
      )}
    </Card>
  )
}
