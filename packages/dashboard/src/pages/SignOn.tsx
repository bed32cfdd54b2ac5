import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { backTo } from '../control/backTo.ts'
import { isControlFailure } from '../control/controlFailure.ts'
import { useOpenAfterLogIn } from '../control/logIn.ts'
import { finishSignOn } from '../control/signOn.ts'
import { Alone } from '../frame/Alone.tsx'
import { Unreachable } from '../frame/Unreachable.tsx'
import { Problem } from '../parts/Note.tsx'
import { PageHead } from '../parts/PageHead.tsx'

/** The page to which the provider of single sign-on redirects back. */
export function SignOn() {
  const openAfterLogIn = useOpenAfterLogIn()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    finishSignOn().then(
      ({ started, plan }) => openAfterLogIn(started, backTo(plan.back)),
      (error: unknown) => setProblem(isControlFailure(error) ? error.message : 'The log-in failed. Start again.'),
    )
  }, [openAfterLogIn])
  return (
    <>
      <Unreachable />
      <Alone>
        <PageHead title="Single sign-on" lead={problem === '' ? 'One moment …' : undefined} />
        {problem !== '' && (
          <>
            <Problem text={problem} />
            <p className="soft">
              <Link to="/log-in">Back to log in</Link>
            </p>
          </>
        )}
      </Alone>
    </>
  )
}
