/** An email, ready to be sent. */
export interface Email {
  /** One address. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** The purpose of an email, for the log. */
export type EmailKind =
  | 'signUp'
  | 'accountExists'
  | 'invite'
  | 'memberInvite'
  | 'resetPassword'
  | 'verifyEmail'
  | 'passwordChanged'
  | 'emailChanged'
  | 'secondFactor'

/** An email that was not sent. Contains no address and no text of the server, which often repeats the address. */
export interface EmailEvent {
  readonly event: 'email'
  readonly kind: EmailKind
  /** `dropped`: the queue is full, or the service stopped. */
  readonly state: 'retrying' | 'failed' | 'dropped'
  /** Such as `EENVELOPE SMTP 550`, `ETIMEDOUT` or `queueFull`. */
  readonly reason: string
}

/** The server that emails are sent to. */
export interface EmailConfig {
  readonly smtp: {
    readonly host: string
    readonly port: number
    /** `tls`: TLS from the first byte. `starttls`: TLS is required before anything is sent. `none`: plain text. */
    readonly secure: 'tls' | 'starttls' | 'none'
    readonly user?: string
    /** A secret. */
    readonly password?: string
  }
  /** The sender: an address, or a name and an address as in `Keyrail <keyrail@example.org>`. */
  readonly from: string
}

/** Sends emails in the background. */
export interface Mailer {
  /** Whether the config has a server for emails. */
  isOn(): boolean
  /**
   * Queues an email. It never throws and does not wait for anything. Does nothing if the config has no server.
   * @param compose - Creates the email when it is its turn. So the time of a response does not depend on what it looks up. `undefined`: send none.
   */
  enqueue(kind: EmailKind, compose: () => Promise<Email | undefined>): void
  /** Sends an email now, without the queue. `undefined`: the config has no server. @throws Log only `describeEmailError` of the error. */
  getSend(): ((email: Email) => Promise<void>) | undefined
  /** Sends what is queued, for at most 5 seconds, and drops the rest. */
  close(): Promise<void>
}
