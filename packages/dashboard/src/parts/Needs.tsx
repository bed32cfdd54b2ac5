import type { ReactNode } from 'react'
import { useMay } from '../control/useMay.ts'
import type { Scope } from '../control/useMay.ts'

/** Shows something only to users whose role in the account allows it. */
export function Needs(props: {
  readonly scope: Scope
  readonly children: ReactNode
  /** Shown to the others. @default nothing */
  readonly otherwise?: ReactNode
}) {
  return useMay()(props.scope) ? props.children : props.otherwise
}

/** Shown instead of a form that the user's role does not allow. */
export function NotAllowed() {
  return <p className="soft">Your role in this team does not allow this. Ask an admin of the team for another role.</p>
}
