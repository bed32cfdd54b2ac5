/** The parts of an invite link's fragment. */
export interface Invite {
  /** The invite's secret; empty if there is none. */
  readonly invite: string
  /** The only email address that may use it; empty if anyone may. */
  readonly email: string
}

/** Parses the fragment of an invite link: `kri_…` or `kri_…&email=…`. */
export function readInvite(fragment: string): Invite {
  const [invite = '', email = ''] = fragment.split('&email=')
  return { invite, email }
}
