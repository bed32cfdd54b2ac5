import type { Migration } from './migration.ts'

/**
 * Accounts of teams, their members, and invites to them. A personal account needs no rows: its id is the user's.
 *
 * A team's account has a row in `users` too, which nobody can log in to. All data belongs to a row there, and it has what calls are checked with:
 * the state, the limits, and the owner of the quota. So no row that exists changes, and programs of the version before serve the calls of teams.
 */
export const teams: Migration = {
  version: 21,
  statements: ({ bytes, integer, tableOptions, clustered }) => [
    `create table teams (
      id text primary key not null references users (id) on delete cascade,
      created_by text not null,
      members_need_second_factor ${integer} not null default 0 check (members_need_second_factor in (0, 1))
    )${tableOptions}`,
    // No reference: a team outlives the user who created it.
    'create index teams_created_by on teams (created_by)',

    `create table members (
      account_id text not null references teams (id) on delete cascade,
      user_id text not null references users (id) on delete cascade,
      role text not null check (role in ('owner', 'admin', 'developer', 'viewer')),
      by_group ${integer} not null check (by_group in (0, 1)),
      created_at ${integer} not null,
      primary key (account_id, user_id)
    )${clustered}`,
    'create index members_user on members (user_id)',

    `create table member_invites (
      id text primary key not null,
      account_id text not null references teams (id) on delete cascade,
      sha256 ${bytes} not null,
      email text not null,
      role text not null check (role in ('owner', 'admin', 'developer', 'viewer')),
      created_by text not null references users (id) on delete cascade,
      created_at ${integer} not null,
      expires_at ${integer} not null
    )${tableOptions}`,
    'create unique index member_invites_sha256 on member_invites (sha256)',
    'create index member_invites_account on member_invites (account_id)',
    'create index member_invites_created_by on member_invites (created_by)',
    'create index member_invites_expires on member_invites (expires_at)',

    // Of a token of a team: the member. Null: the user of the token.
    'alter table access_tokens add column member_id text references users (id) on delete cascade',
    'create index access_tokens_member on access_tokens (member_id)',
  ],
}
