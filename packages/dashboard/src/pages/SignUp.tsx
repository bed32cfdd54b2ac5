import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { callApi } from '../control/callApi.ts'
import { deploymentQuery, sessionQuery } from '../control/queries.ts'
import { readInvite } from '../control/readInvite.ts'
import { changeSession } from '../control/sessionChange.ts'
import { useFragment } from '../control/useFragment.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Alone } from '../frame/Alone.tsx'
import { Unreachable } from '../frame/Unreachable.tsx'
import { Button } from '../parts/Button.tsx'
import { EmailField } from '../parts/EmailField.tsx'
import { Note, Problem } from '../parts/Note.tsx'
import { PageHead } from '../parts/PageHead.tsx'
import { PasswordField } from '../parts/PasswordField.tsx'
import { SignOnButton } from '../parts/SignOnButton.tsx'
import { TextField } from '../parts/TextField.tsx'

/**
 * Sign up. The fragment of the address, which no server is sent, has an invite, the proof of an email address, or both. If the service sends
 * emails and there is no proof, the first step is to request one.
 */
export function SignUp() {
  const fragment = useFragment()
  // Another invite starts over.
  return <Form key={fragment} fragment={fragment} />
}

function Form({ fragment }: { readonly fragment: string }) {
  const { invite, link, email: invited } = readInvite(fragment)
  const router = useRouter()
  const queries = useQueryClient()
  const { data: deployment } = useQuery(deploymentQuery)
  const [email, setEmail] = useState(invited)
  const [password, setPassword] = useState('')
  const [typedInvite, setInvite] = useState('')
  const [sentTo, setSentTo] = useState('')
  const needsInvite = deployment?.signUp === 'invite'
  const given = invite || typedInvite
  const checkEmail = () => ({
    email: /^[^\s@]+@[^\s@]+$/.test(email.trim()) ? undefined : 'Enter your email address, such as ada@example.org',
    invite: needsInvite && given === '' ? 'Paste your invite' : undefined,
  })
  const fields = ['email', 'password', ...(needsInvite && !invite ? ['invite'] : [])]
  const requesting = useSubmit({
    check: checkEmail,
    send: () => callApi('POST /api/account/sign-up-link', { body: { email, ...(given && { invite: given }) } }),
    done: () => setSentTo(email.trim()),
    fields,
  })
  const signingUp = useSubmit({
    check: () => ({
      ...checkEmail(),
      password:
        password === ''
          ? 'Choose a password'
          : // Counted as the service counts.
            [...password.normalize('NFKC')].length < 8
            ? 'The password must have at least 8 characters'
            : undefined,
    }),
    send: () =>
      callApi('POST /api/account', {
        body: { email, password, ...(given && { invite: given }), ...(link && { link }) },
      }),
    done: async (session) => {
      changeSession(queries, { notifyTabs: true })
      queries.setQueryData(sessionQuery.queryKey, session)
      await router.navigate({ to: '/', replace: true })
    },
    fields,
  })
  // An invite that the service sent proves the address, and only the service knows whether it did.
  const isProved = link !== '' || (invite !== '' && invited !== '' && !signingUp.hasCode('email_unverified'))
  const requestsLink = deployment?.email === true && !isProved
  const { submit, isPending, problem, getFix } = requestsLink ? requesting : signingUp
  const hasPasswords = deployment?.passwordLogin !== false
  const isClosed = deployment?.signUp === 'closed' && !invite
  return (
    <>
      <Unreachable />
      <Alone>
        <PageHead title="Sign up" lead={isClosed ? undefined : 'Get a working URL in less than a minute.'} />
        {isClosed ? (
          <Note>Sign-up is closed on this service. Ask its operator for an invite.</Note>
        ) : sentTo !== '' ? (
          <Note kind="good">
            We sent an email to {sentTo}. Open the link in it within one hour to choose a password. Nothing there? Check
            the spam folder.
          </Note>
        ) : (
          <form className="stack" noValidate onSubmit={submit}>
            <Problem text={problem} />
            {needsInvite && !invite && (
              <TextField
                label="Invite"
                name="invite"
                value={typedInvite}
                onChange={setInvite}
                required
                mono
                fix={getFix('invite')}
                hint="The operator of this service has them."
              />
            )}
            {hasPasswords && (
              <EmailField
                value={email}
                onChange={setEmail}
                fix={getFix('email')}
                hint={
                  invited &&
                  (link === '' ? 'Your invite is for this address only.' : 'You have confirmed this address.')
                }
              />
            )}
            {hasPasswords && !requestsLink && (
              <PasswordField
                kind="new"
                value={password}
                onChange={setPassword}
                fix={getFix('password')}
                hint="At least 8 characters, such as a few words."
              />
            )}
            {hasPasswords && (
              <Button kind="primary" type="submit" busy={isPending}>
                {requestsLink ? 'Continue' : 'Sign up'}
              </Button>
            )}
            <SignOnButton invite={given} />
          </form>
        )}
        <p className="soft">
          You have an account? <Link to="/log-in">Log in</Link>
        </p>
      </Alone>
    </>
  )
}
