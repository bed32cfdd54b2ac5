import { getRouteApi, Link } from '@tanstack/react-router'
import { backTo } from '../control/backTo.ts'
import { callApi } from '../control/callApi.ts'
import { useOpenAfterLogIn } from '../control/logIn.ts'
import { Alone } from '../frame/Alone.tsx'
import { Unreachable } from '../frame/Unreachable.tsx'
import { FactorForm } from '../parts/FactorForm.tsx'
import { PageHead } from '../parts/PageHead.tsx'

const route = getRouteApi('/log-in/second-factor')
const load = () => callApi('POST /api/session/second-factor/options')

/** The second step of a log-in. */
export function SecondFactor() {
  const { back } = route.useSearch()
  const openAfterLogIn = useOpenAfterLogIn()
  return (
    <>
      <Unreachable />
      <Alone>
        <PageHead title="Second factor" lead="This account has a second factor." />
        <FactorForm
          load={load}
          send={(body) => callApi('POST /api/session/second-factor', { body })}
          done={(session) => openAfterLogIn(session, backTo(back))}
        />
        <p className="soft">
          <Link to="/log-in" search={back === undefined ? {} : { back }}>
            Back to log in
          </Link>
        </p>
        <p className="soft">Lost all of them? Ask the operator of this service.</p>
      </Alone>
    </>
  )
}
