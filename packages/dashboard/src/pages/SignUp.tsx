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
import { TextField } from '../parts/TextField.tsx'

/** Sign up. An invite, and for whom it is, stands in the fragment of the address, which no server is sent. */
export function SignUp() {
  const { invite, email: invited } = readInvite(useFragment())
  const router = useRouter()
  const queries = useQueryClient()
  const { data: deployment } = useQuery(deploymentQuery)
  const [email, setMail] = useState(invited)
  const [password, setPassword] = useState('')
  const [typedInvite, setInvite] = useState('')
  const needsInvite = deployment?.signUp === 'invite'
  const { submit, isPending, problem, getFix } = useSubmit({
    check: () => ({
      email: /^[^\s@]+@[^\s@]+$/.test(email.trim()) ? undefined : 'Type your email address, such as ada@example.org',
      password:
        password === ''
          ? 'Choose a password'
          : // Counted as the service counts.
            [...password.normalize('NFKC')].length < 8
            ? 'The password must have at least 8 characters'
            : undefined,
      invite: needsInvite && !invite && typedInvite === '' ? 'Paste the invite that you were given' : undefined,
    }),
    send: () => {
      const given = invite || typedInvite
      return callApi('POST /api/account', { body: { email, password, ...(given && { invite: given }) } })
    },
    done: async (session) => {
      changeSession(queries, { tell: true })
      queries.setQueryData(sessionQuery.queryKey, session)
      await router.navigate({ to: '/', replace: true })
    },
    fields: ['email', 'password', ...(needsInvite && !invite ? ['invite'] : [])],
  })
  const isClosed = deployment?.signUp === 'closed' && !invite
  return (
    <>
      <Unreachable />
      <Alone>
        <PageHead title="Sign up" lead={isClosed ? undefined : 'A working address takes less than a minute.'} />
        {isClosed ? (
          <Note>This service takes no new accounts. Ask whoever runs it for an invite.</Note>
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
                hint="Whoever runs this service gives them out."
              />
            )}
            <EmailField
              value={email}
              onChange={setMail}
              fix={getFix('email')}
              hint={invited && 'Your invite is for this address alone.'}
            />
            <PasswordField
              kind="new"
              value={password}
              onChange={setPassword}
              fix={getFix('password')}
              hint="At least 8 characters. A few words in a row are fine."
            />
            <Button kind="primary" type="submit" busy={isPending}>
              Sign up
            </Button>
          </form>
        )}
        <p className="soft">
          You have an account? <Link to="/log-in">Log in</Link>
        </p>
      </Alone>
    </>
  )
}
