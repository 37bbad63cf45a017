export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The console: a page without data. */
        get: operations["get /"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A2A (protocol 1.0), JSON-RPC: SendMessage, SendStreamingMessage, GetTask, SubscribeToTask, CancelTask. With the employee's own credential as bearer. */
        post: operations["post /a2a/:name"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/a2a/{name}/.well-known/agent-card.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The agent card of an employee that is offered over A2A (protocol 1.0). */
        get: operations["get /a2a/:name/.well-known/agent-card.json"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/a2a": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The employees that are offered to agents of other houses, and since when each has its credential. */
        get: operations["get /api/a2a"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/a2a/{name}/credential": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make the credential with which an agent of another house gives tasks to this employee. */
        post: operations["post /api/a2a/:name/credential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/a2a/{name}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revoke the credential: no agent of another house reaches this employee any more. */
        post: operations["post /api/a2a/:name/revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/attention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Everything that waits on a person or an employee, longest first. */
        get: operations["get /api/attention"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/bootstrap": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exchange a grant, in the header X-Svc-Bootstrap-Grant, for two cookies. Only from this machine, and by its own user. */
        post: operations["post /api/auth/bootstrap"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/bootstrap-grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a single-use grant for a browser on this machine, valid for one minute; needs a proven challenge. Pass it in the URL fragment, which is never sent. */
        post: operations["post /api/auth/bootstrap-grants"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/devices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The paired browsers, most recently seen first. */
        get: operations["get /api/auth/devices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/devices/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a browser and close its sockets. */
        delete: operations["delete /api/auth/devices/:id"];
        options?: never;
        head?: never;
        /** Name the person who uses a paired browser; the ledger and the audit log show the name. */
        patch: operations["patch /api/auth/devices/:id"];
        trace?: never;
    };
    "/api/auth/devices/{id}/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a paired browser changed, newest first, at most 500, as the audit log has it. Also of one that was revoked. */
        get: operations["get /api/auth/devices/:id/decisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revoke this browser and clear its cookies. Any body is accepted, and not read. */
        post: operations["post /api/auth/logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/pair": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exchange a code for two cookies. Case and dashes do not matter. */
        post: operations["post /api/auth/pair"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/pairing-challenges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a proof that you own the home: write the nonce to the path, mode 0600, within ten seconds. Only from this machine. */
        post: operations["post /api/auth/pairing-challenges"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/pairing-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a single-use pairing code, valid for five minutes; needs a proven challenge or a paired browser. */
        post: operations["post /api/auth/pairing-codes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether authentication is required, and whether this caller is authenticated. */
        get: operations["get /api/auth/state"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/backup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Back up the whole instance, as of one moment, to a new folder on the gateway's machine, or to `backup.to` of config.yaml. Returns when it is complete. */
        post: operations["post /api/backup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The settings of config.yaml with their defaults, without secrets. */
        get: operations["get /api/config"];
        /** Change settings of config.yaml: those sent that differ from what is shown; comments stay, and null restores a default. What runs programs or loosens a wall is only changed in the file: 403. */
        put: operations["put /api/config"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The configured connectors, with health and capabilities. */
        get: operations["get /api/connectors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{name}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Messages sent through a connector and their outcome, newest last; the next page holds older ones. */
        get: operations["get /api/connectors/:name/deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{name}/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One message sent through a connector, with its text while something may still become of it. */
        get: operations["get /api/connectors/:name/deliveries/:deliveryId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{name}/deliveries/{deliveryId}/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Decide what becomes of a message whose outcome is `unknown` or `failed`: the first decision counts, a second one is a 409. */
        post: operations["post /api/connectors/:name/deliveries/:deliveryId/settle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/{name}/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a message through a connector: stored before it is sent, sent at most once. */
        post: operations["post /api/connectors/:name/send"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/connectors/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reload the connectors of config.yaml and restart them; returns when each one runs or has failed. */
        post: operations["post /api/connectors/reload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/cost/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Cost of the sessions visible to the caller, the most expensive group first. The whole cost of a session counts on the day of its last activity, in `portal.timeZone`. */
        get: operations["get /api/cost/report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/cron": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The cron jobs with their latest runs. */
        get: operations["get /api/cron"];
        put?: never;
        /** Create a cron job. */
        post: operations["post /api/cron"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/cron/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A cron job with all its settings. */
        get: operations["get /api/cron/:id"];
        /** Update the given members of a cron job. */
        put: operations["put /api/cron/:id"];
        post?: never;
        /** Delete a cron job. The file of its runs is kept. */
        delete: operations["delete /api/cron/:id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/cron/{id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Completed runs, newest first. */
        get: operations["get /api/cron/:id/runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/cron/{id}/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run a cron job now, even if it is disabled. Returns when the run is stored. */
        post: operations["post /api/cron/:id/trigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/delegations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Delegate a task: creates a Todo and the session that attempts it, in one commit. If the engine is not available, the Todo is kept and the answer is 502 with its id. */
        post: operations["post /api/delegations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/engine-limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The providers' limits as reported to past turns: observations, never a cap. An unknown engine is `unsupported`. */
        get: operations["get /api/engine-limits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/engine-limits/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Discover the engines again; returns the providers' limits. */
        post: operations["post /api/engine-limits/refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/engines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The engines, with availability and models. */
        get: operations["get /api/engines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/engines/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Discover the engines again; returns what was found. */
        post: operations["post /api/engines/refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What POST /api/erase would erase, and which copies would keep it. Changes nothing. */
        get: operations["get /api/erase"];
        put?: never;
        /** Erase what sessions hold: messages, tool calls, files, conversations that engines keep, and what the log says of them. Takes one of sessionId, before and person. Resumes after a crash. */
        post: operations["post /api/erase"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The company, an employee, a workflow, a work item or a session as a file, without keys. */
        get: operations["get /api/export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/features": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Features of this API that this server does not provide. */
        get: operations["get /api/features"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metadata of the managed files, newest first. */
        get: operations["get /api/files"];
        put?: never;
        /** Store a file: a multipart body with the part `file`, or JSON with exactly one of content, url and path. */
        post: operations["post /api/files"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/files/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download the file. Supports ranges and If-None-Match. */
        get: operations["get /api/files/:id"];
        put?: never;
        post?: never;
        /** Delete a file and its contents. */
        delete: operations["delete /api/files/:id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/files/{id}/meta": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metadata of a file. */
        get: operations["get /api/files/:id/meta"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/files/{id}/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open a file with the default program of the gateway's machine; only with gateway.allowFileOpen. */
        post: operations["post /api/files/:id/open"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/files/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A managed file as text; for binary and large files only the metadata. */
        get: operations["get /api/files/read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/held-decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Decide something that waits, with a few seconds in which it can be withdrawn. Carried out after that by the route of its kind, as the caller, also when the browser or the gateway was gone meanwhile. */
        post: operations["post /api/held-decisions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/held-decisions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What became of a held decision. Forgotten a day after its end. */
        get: operations["get /api/held-decisions/:id"];
        put?: never;
        post?: never;
        /** Withdraw a held decision: nothing was decided. 409 once it is being carried out. */
        delete: operations["delete /api/held-decisions/:id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take in what an export wrote, or preview that. All of it is judged before anything is written. */
        post: operations["post /api/import"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/actors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A page of the actors of a kind, or of a state of it. */
        get: operations["get /api/inspect/actors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/actors/{kind}/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An actor: state, view, context, timers, effects, relations; now or as of a log position. */
        get: operations["get /api/inspect/actors/:kind/:id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/actors/{kind}/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The history of an actor, newest first. */
        get: operations["get /api/inspect/actors/:kind/:id/history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/actors/{kind}/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume an actor that was halted after too many failures. */
        post: operations["post /api/inspect/actors/:kind/:id/resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/actors/{kind}/{id}/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send an event that the kind allows people to send; the policy of the kind applies. */
        post: operations["post /api/inspect/actors/:kind/:id/send"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/actors/{kind}/{id}/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What this caller may do next, and why the rest is refused. */
        get: operations["get /api/inspect/actors/:kind/:id/why"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/actors/{kind}/{id}/work": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How it goes with the effects of an actor: last output, place in the queue, worker, processes. */
        get: operations["get /api/inspect/actors/:kind/:id/work"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/bundle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A bug bundle: the history of an actor or of a range of the log, with personal texts redacted. */
        get: operations["get /api/inspect/bundle"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/causes/{seq}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The causes and the consequences of a log entry, across actors. */
        get: operations["get /api/inspect/causes/:seq"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Events that an actor failed to handle, newest first. The newest 10,000 are kept, for 90 days. */
        get: operations["get /api/inspect/dead-letters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/dead-letters/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Drop a dead letter: its event is lost. */
        delete: operations["delete /api/inspect/dead-letters/:id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/dead-letters/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Put a dead letter back into its actor's mailbox. The actor must accept it from its sender and from the caller. */
        post: operations["post /api/inspect/dead-letters/:id/retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/fleet": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The number of actors by kind and state. The cost does not depend on the number. */
        get: operations["get /api/inspect/fleet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/machines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The machines with version and hash. */
        get: operations["get /api/inspect/machines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/machines/{kind}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The statechart of a kind: as data, or as a picture (`:kind.svg`, `?format=svg` or `Accept: image/svg+xml`). */
        get: operations["get /api/inspect/machines/:kind"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/pulse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Rates of the last minute and the last refusals, from memory. */
        get: operations["get /api/inspect/pulse"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/quotas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What each agent has begun, in this hour and in all, and how much it may. */
        get: operations["get /api/inspect/quotas"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/stately-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a link for a receiver of `@statelyai/inspect`, which can send no header: it opens one socket, once, within a minute, read only, from this origin or from a program. It ends with the browser that made it. */
        post: operations["post /api/inspect/stately-links"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/stuck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What has stopped or perhaps does not go on, longest first, and the newest hundred dead letters. Of each state the 50 longest are read; `more` names those that hold more. What waits for a decision is `GET /api/attention`. */
        get: operations["get /api/inspect/stuck"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/supervision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The supervision tree: strategies, restart intensity, failing and halted actors, degraded parts, and why. */
        get: operations["get /api/inspect/supervision"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/inspect/tree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A page of the actor tree: the children of an actor, or the actors of a kind without a parent. */
        get: operations["get /api/inspect/tree"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/instance-migration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether a migration is needed: always false. */
        get: operations["get /api/instance-migration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/instances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The known instances of Troupe: only this one. */
        get: operations["get /api/instances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/internal/hook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** For hooks of agents that people run themselves: the session that holds the conversation takes over what was said there. With the hook secret of gateway.json; at most 60 per minute. */
        post: operations["post /api/internal/hook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/knowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The documents in knowledge/ and docs/, last changed first. */
        get: operations["get /api/knowledge"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/knowledge/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One document, at most 20,000 characters of it. */
        get: operations["get /api/knowledge/read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/knowledge/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Full-text search in knowledge/ and docs/. Deterministic, not semantic. */
        get: operations["get /api/knowledge/search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The newest lines of the log, oldest first. */
        get: operations["get /api/logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The destinations of notifications, and whether messages arrive there. */
        get: operations["get /api/notifications"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/onboarding": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether onboarding is needed: always false. */
        get: operations["get /api/onboarding"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document. */
        get: operations["get /api/openapi.json"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/org": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Departments, employees and reporting lines. */
        get: operations["get /api/org"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/org/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Spend and budget of every employee in this month (of `portal.timeZone`), in roster order. Only engines that report the cost of a turn are counted. */
        get: operations["get /api/org/budgets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/org/departments/{name}/board": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The legacy board of a department. It does not contain work items. */
        get: operations["get /api/org/departments/:name/board"];
        /** Replace the legacy board of a department. */
        put: operations["put /api/org/departments/:name/board"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/org/employees/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An employee with persona. */
        get: operations["get /api/org/employees/:name"];
        put?: never;
        post?: never;
        /** Retire an employee. The file is kept, with its comments, in `org/.retired` of the home; moved back, it is in use again. Refused while others report to this one. */
        delete: operations["delete /api/org/employees/:name"];
        options?: never;
        head?: never;
        /** Update an employee's file; its comments and order are kept. */
        patch: operations["patch /api/org/employees/:name"];
        trace?: never;
    };
    "/api/org/employees/{name}/budget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Spend and budget of an employee in this month (of `portal.timeZone`). */
        get: operations["get /api/org/employees/:name/budget"];
        put?: never;
        /** Raise the budget for this month. With budgets.enforce, held turns continue at once. */
        post: operations["post /api/org/employees/:name/budget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/push": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the browser that asks is notified by Web Push, and the key with which it subscribes. */
        get: operations["get /api/push"];
        /** Notify the paired browser that asks: `PushSubscription.toJSON()`. It replaces the one before and ends with the pairing. What is sent says that something waits, and nothing of it. */
        put: operations["put /api/push"];
        post?: never;
        /** Notify the browser that asks no more. */
        delete: operations["delete /api/push"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/retention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Retention by age, and the time that is held back. */
        get: operations["get /api/retention"];
        put?: never;
        /** Release the time that retention holds back, or dismiss it. */
        post: operations["post /api/retention"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Messages that contain all words, in the sessions visible to the caller. */
        get: operations["get /api/search/messages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Search sessions by words, people, engine, status or time, last active first. */
        get: operations["get /api/search/sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search/work-items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Search work items by words in id, title or body. */
        get: operations["get /api/search/work-items"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List sessions: the first of every group, one group, a search, or all. */
        get: operations["get /api/sessions"];
        put?: never;
        /** Open a session with its first message. If the engine is not installed, the session is in `error`. */
        post: operations["post /api/sessions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A session with its messages. */
        get: operations["get /api/sessions/:id"];
        /** The same as PATCH: what is not sent stays as it is. */
        put: operations["put /api/sessions/:id"];
        post?: never;
        /** Delete an idle session; the files of its agent are kept. An attempt at a work item is kept: 409 with `preserved`. */
        delete: operations["delete /api/sessions/:id"];
        options?: never;
        head?: never;
        /** Change title, engine, model or effort, from the next turn on. */
        patch: operations["patch /api/sessions/:id"];
        trace?: never;
    };
    "/api/sessions/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Archive an idle session: lists no longer show it. */
        post: operations["post /api/sessions/:id/archive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/attachments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Attach a file to a session: the file is stored, and a message of the assistant shows it. */
        post: operations["post /api/sessions/:id/attachments"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a session has changed in its folder: files, commits, what each turn changed, and how it would merge. */
        get: operations["get /api/sessions/:id/changes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/changes/commit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Commit what is in no commit, on the branch that is checked out there. */
        post: operations["post /api/sessions/:id/changes/commit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/changes/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take files back to what they were before the session; in a folder that is no worktree, to the last commit. What they were is kept in the repository under `keptAs`. */
        post: operations["post /api/sessions/:id/changes/discard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/changes/merge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Merge the branch of a session into the branch that is checked out in its repository. With conflicts, or where a file there would be overwritten: 409, and nothing is touched. */
        post: operations["post /api/sessions/:id/changes/merge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/changes/patch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What has changed in one file, as `git diff` shows it. */
        get: operations["get /api/sessions/:id/changes/patch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/children": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The direct children of a session. */
        get: operations["get /api/sessions/:id/children"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The messages before and after a message. */
        get: operations["get /api/sessions/:id/context"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/duplicate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create an idle copy with the last messages. */
        post: operations["post /api/sessions/:id/duplicate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/message": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send the session a message; stored before the response. */
        post: operations["post /api/sessions/:id/message"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A page of older messages, oldest first. */
        get: operations["get /api/sessions/:id/messages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tool requests of the agent and their outcome, latest first. */
        get: operations["get /api/sessions/:id/permissions"];
        /** Replace what the agent may do without a permission request: mode and rules, at once. */
        put: operations["put /api/sessions/:id/permissions"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/permissions/{permission}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Allow or deny a pending tool request. */
        post: operations["post /api/sessions/:id/permissions/:permission"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The messages that are queued, in the order of their turns, running or recently ended. */
        get: operations["get /api/sessions/:id/queue"];
        put?: never;
        post?: never;
        /** Cancel all queued messages. */
        delete: operations["delete /api/sessions/:id/queue"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/queue/{item}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Cancel a queued message. */
        delete: operations["delete /api/sessions/:id/queue/:item"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/queue/{item}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Move a queued message to another place of the queue. */
        post: operations["post /api/sessions/:id/queue/:item/move"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/queue/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause the queue: no further turn begins. */
        post: operations["post /api/sessions/:id/queue/pause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/queue/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume the queue, even before a provider's limit has reset. */
        post: operations["post /api/sessions/:id/queue/resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reset the session: engines no longer receive the earlier conversation. */
        post: operations["post /api/sessions/:id/reset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume an interrupted session: a new turn goes on with it. */
        post: operations["post /api/sessions/:id/resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop the session; with `?descendants=true` its descendants too. */
        post: operations["post /api/sessions/:id/stop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/unarchive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Restore an archived session. */
        post: operations["post /api/sessions/:id/unarchive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/{id}/words": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the running turn has said so far; `session:delta` goes on from there. */
        get: operations["get /api/sessions/:id/words"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/bulk-delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Delete several sessions; those that must be kept are listed with the reason. */
        post: operations["post /api/sessions/bulk-delete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions/interrupted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sessions that were interrupted, last active first. */
        get: operations["get /api/sessions/interrupted"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The skills and their purpose. */
        get: operations["get /api/skills"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/skills/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A skill's text. */
        get: operations["get /api/skills/:name"];
        /** Replace the text of an existing skill. At most 2 MiB, with frontmatter that gives its name and description. */
        put: operations["put /api/skills/:name"];
        post?: never;
        /** Remove a skill, its folder and its line in skills.json. */
        delete: operations["delete /api/skills/:name"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Gateway status and component summary. */
        get: operations["get /api/status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/stt/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Speech to text: not supported. */
        get: operations["get /api/stt/status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Teams that can be added by name. */
        get: operations["get /api/templates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/templates/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Add a team, or preview that. */
        post: operations["post /api/templates/:name"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trust": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a project sets for agents, and whether it is trusted. */
        get: operations["get /api/trust"];
        put?: never;
        /** Trust the settings of a project as they are, withdraw that, or dismiss what waits for it. */
        post: operations["post /api/trust"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List work items: ranked ones first, then by latest change. */
        get: operations["get /api/work-items"];
        put?: never;
        /** Create a work item; does not start work. */
        post: operations["post /api/work-items"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A work item with its ledger and its cost. */
        get: operations["get /api/work-items/:id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Edit metadata; needs the version that was read. */
        patch: operations["patch /api/work-items/:id"];
        trace?: never;
    };
    "/api/work-items/{id}/approval": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Decide the pending approval, if it is routed to the caller. */
        post: operations["post /api/work-items/:id/approval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/approval/escalate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open the pending approval to the operator and the executives. */
        post: operations["post /api/work-items/:id/approval/escalate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/approval/request": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask for an approval. A new request replaces a pending one. */
        post: operations["post /api/work-items/:id/approval/request"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All approval requests, oldest first, with outcome, decider and time. */
        get: operations["get /api/work-items/:id/approvals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a work item and keep the evidence. */
        post: operations["post /api/work-items/:id/archive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/assign": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Assign a work item. */
        post: operations["post /api/work-items/:id/assign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The attempts at a work item, with employee, time, outcome and cost; oldest first. */
        get: operations["get /api/work-items/:id/attempts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/children": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The sub-tasks of a work item, oldest first. */
        get: operations["get /api/work-items/:id/children"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/comments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Comments, oldest first. */
        get: operations["get /api/work-items/:id/comments"];
        put?: never;
        /** Add a comment. */
        post: operations["post /api/work-items/:id/comments"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/comments/{commentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a comment; the ledger records the deletion. */
        delete: operations["delete /api/work-items/:id/comments/:commentId"];
        options?: never;
        head?: never;
        /** Edit a comment; for its author and people. */
        patch: operations["patch /api/work-items/:id/comments/:commentId"];
        trace?: never;
    };
    "/api/work-items/{id}/handoff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Submit the results of an attempt: summary, changed files, verification. */
        post: operations["post /api/work-items/:id/handoff"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/labels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Add and remove labels. */
        post: operations["post /api/work-items/:id/labels"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Link two work items; both ends in one commit. */
        post: operations["post /api/work-items/:id/links"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/links/{relation}/{other}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a link, at both ends. */
        delete: operations["delete /api/work-items/:id/links/:relation/:other"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The transitions and operations open to this caller now, and why the others are not. */
        get: operations["get /api/work-items/:id/next"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The sessions that attempted a work item, oldest first. */
        get: operations["get /api/work-items/:id/sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work-items/{id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** For consoles: a person changes the status; `cancelled` archives the work item. */
        put: operations["put /api/work-items/:id/status"];
        /** Change the status along an allowed transition. `blocked` and `escalated` need a note. */
        post: operations["post /api/work-items/:id/status"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The processes that run turns for this gateway, here and on other machines, and what runs where. The first turn starts the one that is here; with `agents.worker: false` there is none. */
        get: operations["get /api/workers"];
        put?: never;
        /** Invite a worker of another machine: it joins with the code, once, within ten minutes (`troupe worker --join`). */
        post: operations["post /api/workers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workers/{id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** No turn begins there any more; what it has goes on. One that is here ends with its last turn. */
        post: operations["post /api/workers/:id/drain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workers/{id}/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends its turns, which are interrupted, and then the worker. One of another machine must be invited again. */
        post: operations["post /api/workers/:id/remove"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workers/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Turns begin again on a worker of another machine that was drained. */
        post: operations["post /api/workers/:id/resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workers/join": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exchange the code of an invitation for the token of the worker. Case and dashes do not matter. */
        post: operations["post /api/workers/join"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List versions of workflows that an agent wrote and a person must approve, and why. */
        get: operations["get /api/workflow-approvals"];
        put?: never;
        /** Approve or reject versions of workflows: an approved one lends your rights, for exactly its steps. */
        post: operations["post /api/workflow-approvals"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The workflows, newest change first. `evidenceConfigured: false` means unavailable, not empty. */
        get: operations["get /api/workflow-definitions"];
        put?: never;
        /** Save a new workflow; the body is the definition, or `{definition}`. */
        post: operations["post /api/workflow-definitions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A definition: the newest version, or the one in `?version=`. */
        get: operations["get /api/workflow-definitions/:id"];
        /** Write a new version with the members that are sent; the others stay. The body is of the definition, or `{definition, expectedVersion}`; its stamps (id, version, times) are not read. */
        put: operations["put /api/workflow-definitions/:id"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/duplicate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Duplicate the workflow. A copy with a schedule or trigger is created paused. */
        post: operations["post /api/workflow-definitions/:id/duplicate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause the workflow: it cannot be started until it is resumed. Repeated: 200, and nothing changes. */
        post: operations["post /api/workflow-definitions/:id/pause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The execution plan of the stored definition. */
        get: operations["get /api/workflow-definitions/:id/plan"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume the workflow: it can be started again. Repeated: 200, and nothing changes. */
        post: operations["post /api/workflow-definitions/:id/resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/retire": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Retire the workflow: it can no longer be started or changed. Running runs continue. Repeated: 200, and nothing changes. */
        post: operations["post /api/workflow-definitions/:id/retire"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a run; its ready steps begin at once. 201; a repeated key with the same input: 200 and the same run. A run that cannot start: 422 with the failed run. */
        post: operations["post /api/workflow-definitions/:id/run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The runs of a workflow, newest first. */
        get: operations["get /api/workflow-definitions/:id/runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/runs/{runId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A run: the newest receipt of each node, its open gates, its input, and the version of the definition that it uses. */
        get: operations["get /api/workflow-definitions/:id/runs/:runId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/runs/{runId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a run and stop its sessions. Repeated: 200, and nothing changes. */
        post: operations["post /api/workflow-definitions/:id/runs/:runId/cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/runs/{runId}/gate-approval/escalate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open a parked gate to the operator and the executives. */
        post: operations["post /api/workflow-definitions/:id/runs/:runId/gate-approval/escalate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/runs/{runId}/pending-steps/{nodeId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Change the prompt of a step that has not begun, for this run only. */
        patch: operations["patch /api/workflow-definitions/:id/runs/:runId/pending-steps/:nodeId"];
        trace?: never;
    };
    "/api/workflow-definitions/{id}/runs/{runId}/receipts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All receipts of a run, oldest first: each attempt of each round, with its input. */
        get: operations["get /api/workflow-definitions/:id/runs/:runId/receipts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/runs/{runId}/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rerun from a step on, in a new run that keeps the results of the steps before it. */
        post: operations["post /api/workflow-definitions/:id/runs/:runId/rerun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/runs/{runId}/resolve-gate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Decide the gate of a parked run. */
        post: operations["post /api/workflow-definitions/:id/runs/:runId/resolve-gate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/runs/{runId}/steps/{nodeId}/output": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Submit the output of a step, as the session that runs it. */
        post: operations["post /api/workflow-definitions/:id/runs/:runId/steps/:nodeId/output"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The latest 100 versions, newest first. */
        get: operations["get /api/workflow-definitions/:id/versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/mutate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Save a new workflow (201), or the next version of one (200). */
        post: operations["post /api/workflow-definitions/mutate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-definitions/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Validate a definition: normal form, layout, all errors with their location, execution plan, possible deadlocks, changes. Saves nothing. */
        post: operations["post /api/workflow-definitions/plan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Post an external event: with the gateway's bearer to every binding of the event; with a binding's secret, or signed with it, to that binding. At most 60 per minute each. */
        post: operations["post /api/workflow-events"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The runs of all workflows, newest first. */
        get: operations["get /api/workflow-runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-runs/by-name": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a run of the workflow with that name. */
        post: operations["post /api/workflow-runs/by-name"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-triggers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The bindings of events to workflows; no secrets. */
        get: operations["get /api/workflow-triggers"];
        put?: never;
        /** Bind an event to a workflow. The secret of a webhook is only in this answer; a poll waits for approval. */
        post: operations["post /api/workflow-triggers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-triggers/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a binding; its secret becomes invalid, and its program is stopped. */
        delete: operations["delete /api/workflow-triggers/:name"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-triggers/{name}/activation-approval": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve or reject the program of a poll, exactly as stated in its contract. Rejecting an active one stops it. */
        post: operations["post /api/workflow-triggers/:name/activation-approval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflow-triggers/{name}/activation-approval/escalate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Mark a waiting approval as urgent. */
        post: operations["post /api/workflow-triggers/:name/activation-approval/escalate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The same list, also under the name `workflows`. */
        get: operations["get /api/workflows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A file of the console, named for its content. */
        get: operations["get /console/:name"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The table of contents of the guides. */
        get: operations["get /docs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A guide by its topic: `/docs/effects`. `style.css` is the stylesheet. */
        get: operations["get /docs/:name"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Health probe: `ok`, or 503. */
        get: operations["get /healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inspect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The live inspector: a page without data. */
        get: operations["get /inspect"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/inspect/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A file of the live inspector's page, named for its content. */
        get: operations["get /inspect/:name"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Model Context Protocol, streamable HTTP: one JSON-RPC message, answered as JSON. The tools are these routes, with the same authority and refusals. */
        post: operations["post /mcp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics for Prometheus. */
        get: operations["get /metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pair": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The page that pairs a browser. */
        get: operations["get /pair"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/push-worker.js": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What shows notifications in a paired browser when no page is open: a service worker. */
        get: operations["get /push-worker.js"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ApprovalRequest: {
            decidedAt: string | null;
            decidedBy: string | null;
            escalatedAt: string | null;
            expiresAt: string | null;
            note: string | null;
            request: string;
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            requestedAt: string;
            requestedBy: string;
            requestId: string;
            /** @enum {string} */
            state: "pending" | "approved" | "rejected" | "superseded" | "expired" | "cancelled";
            target: string | null;
        } & {
            [key: string]: unknown;
        };
        Attempt: {
            changedFiles: string[] | null;
            costUsd: number | null;
            employee: string | null;
            endedAt: string | null;
            /** @description The attempt's own report. */
            handoff: {
                [key: string]: unknown;
            } | null;
            /** @description null while it is running */
            outcome: ("succeeded" | "failed" | "interrupted") | null;
            sessionId: string;
            startedAt: string | null;
            summary: string | null;
        } & {
            [key: string]: unknown;
        };
        Budget: {
            employee: string;
            /** @description Additional budget granted this month. */
            grantedUsd: number;
            /** @description `monthlyBudgetUsd` of the roster; null: no budget. */
            limitUsd: number | null;
            /** @description `2026-11`, UTC. */
            month: string;
            percent: number | null;
            spentUsd: number;
            /**
             * @description `warned` from 80 %, `exceeded` from 100 %.
             * @enum {string}
             */
            state: "within" | "warned" | "exceeded";
            /** @description Turns whose cost was reported. */
            turns: number;
        };
        Changes: {
            /** @description The commit that they are compared with. */
            base: string | null;
            branch: string | null;
            commits: {
                /**
                 * Format: date-time
                 * @description ISO-8601, UTC, milliseconds
                 */
                at: string;
                author: string;
                commit: string;
                subject: string;
            }[];
            files: {
                /** @description Lines; null: no text. */
                added: number | null;
                /** @enum {string} */
                change: "added" | "changed" | "removed" | "renamed";
                isCommitted: boolean;
                /** @description Below `folder`. */
                path: string;
                removed: number | null;
                /** @description Its name before, where it was moved. */
                renamedFrom: string | null;
            }[];
            folder: string | null;
            hasMoreFiles: boolean;
            /** @description A turn runs: nothing can be decided now. */
            isWorking: boolean;
            /**
             * @description worktree: a branch of its own, compared with the one in its repository. folder: compared with the last commit. none: in no git repository.
             * @enum {string}
             */
            kind: "worktree" | "folder" | "none";
            /** @description Of a worktree. */
            merge: {
                conflicts: {
                    path: string;
                    /** @description The lines that differ, between git's marks. */
                    text: string;
                }[];
                head: string;
                /** @description The branch that is checked out there. */
                into: string | null;
                reason: string | null;
                /** @description The checkout that it would go into. */
                repository: string;
                /**
                 * @description merged: the other branch has all of it. refused: `reason` says what has to be done first.
                 * @enum {string}
                 */
                state: "ready" | "merged" | "conflicts" | "refused";
            } | null;
            /** @description What each turn changed, the latest first. */
            turns: {
                /**
                 * Format: date-time
                 * @description ISO-8601, UTC, milliseconds
                 */
                at: string;
                files: string[];
                patchUrl: string | null;
                stat: string;
                turnId: string;
            }[];
            /** @description Send it with what you decide: others by now are refused with 409. */
            version: string;
            /** @description Repositories below `folder`: nothing of what is in them is shown, committed or merged. */
            within: string[];
        };
        Comment: {
            author: string;
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            createdAt: string;
            editedAt: string | null;
            id: string;
            /** @description Its position in the list, for `before`. */
            n?: number;
            text: string;
        };
        Connector: {
            capabilities: {
                attachments: boolean;
                messageEdits: boolean;
                reactions: boolean;
                threading: boolean;
            };
            /** @description The reason for its error state. */
            detail?: string;
            employee?: string;
            instanceId: string;
            name: string;
            /** @enum {string} */
            status: "stopped" | "starting" | "running" | "error";
        };
        CronJob: {
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            createdAt: string;
            delivery: {
                channel: string;
                connector: string;
            } | null;
            effortLevel: string | null;
            employee: string | null;
            enabled: boolean;
            engine: string | null;
            fires: number;
            id: string;
            lastRun: {
                durationMs: number;
                sessionKey: string;
                status: string;
                /**
                 * Format: date-time
                 * @description ISO-8601, UTC, milliseconds
                 */
                timestamp: string;
            } | null;
            managedBy: string | null;
            /** @enum {string} */
            missed: "skip" | "once" | "all";
            missedFires: number;
            model: string | null;
            name: string;
            nextRunAt: string | null;
            prompt: string;
            running: number;
            schedule: string;
            timezone: string | null;
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            updatedAt: string;
            workflowId: string | null;
        } & {
            [key: string]: unknown;
        };
        CronJobRow: {
            employee: string | null;
            enabled: boolean;
            engine: string | null;
            id: string;
            lastRun: {
                durationMs: number;
                sessionKey: string;
                status: string;
                /**
                 * Format: date-time
                 * @description ISO-8601, UTC, milliseconds
                 */
                timestamp: string;
            } | null;
            managedBy: string | null;
            name: string;
            nextRunAt: string | null;
            running: number;
            schedule: string;
            timezone: string | null;
            workflowId: string | null;
        };
        CronRun: {
            durationMs: number;
            sessionKey: string;
            /** @enum {string} */
            status: "started" | "success" | "error" | "interrupted" | "missed";
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            timestamp: string;
        } & {
            [key: string]: unknown;
        };
        Delivery: {
            channel: string;
            /** @description What a person made of it last, where it did not arrive or may not have. */
            decision?: {
                /**
                 * Format: date-time
                 * @description ISO-8601, UTC, milliseconds
                 */
                at: string;
                by: string;
                /** @enum {string} */
                choice: "arrived" | "send-again" | "give-up";
            } | null;
            id: string;
            messageId: string | null;
            reason: string | null;
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            requestedAt: string;
            requestedBy: string;
            settledAt: string | null;
            /** @enum {string} */
            status: "queued" | "sent" | "failed" | "unknown";
            thread: string | null;
        } & {
            [key: string]: unknown;
        };
        Employee: {
            allowedConnectors: string[];
            alwaysNotify: boolean;
            /** @description From the root down to and including this one. */
            chain: string[];
            cliFlags?: string[];
            department: string;
            depth: number;
            directReports: string[];
            displayName: string;
            effortLevel?: string;
            emoji?: string;
            engine: string | null;
            mcp?: boolean | string[];
            model: string | null;
            monthlyBudgetUsd?: number;
            name: string;
            parentName: string | null;
            permissions: unknown;
            persona: string;
            provides?: {
                [key: string]: unknown;
            }[];
            /** @enum {string} */
            rank: "executive" | "manager" | "senior" | "employee";
            /** @description As written in the file; `parentName` is the resolved manager. */
            reportsTo?: string | string[];
        };
        EmployeeRow: {
            allowedConnectors: string[];
            alwaysNotify: boolean;
            /** @description From the root down to and including this one. */
            chain: string[];
            cliFlags?: string[];
            department: string;
            depth: number;
            directReports: string[];
            displayName: string;
            effortLevel?: string;
            emoji?: string;
            engine: string | null;
            mcp?: boolean | string[];
            model: string | null;
            monthlyBudgetUsd?: number;
            name: string;
            parentName: string | null;
            permissions: unknown;
            provides?: {
                [key: string]: unknown;
            }[];
            /** @enum {string} */
            rank: "executive" | "manager" | "senior" | "employee";
            /** @description As written in the file; `parentName` is the resolved manager. */
            reportsTo?: string | string[];
            /** @description The beginning of the persona. */
            role: string;
        };
        Engine: {
            /** @description How the program gets in at its provider: files and names, never values. For people alone. */
            access?: {
                /** @description Variables that the settings name and the gateway lacks. */
                absent: string[];
                /** @description Keys that the gateway has and does not pass on, by name. */
                notPassed: string[];
                remedy?: string;
                /** @enum {string} */
                state: "ready" | "missing" | "unknown";
                what: string;
            };
            /** @description The executable was found; does not mean that it is logged in at its provider. */
            available: boolean;
            defaultModel: string | null;
            effortMechanism: string;
            models: ({
                effortLevels: string[];
                id: string;
                label: string;
                supportsEffort: boolean;
            } & {
                [key: string]: unknown;
            })[];
            name: string;
        } & {
            [key: string]: unknown;
        };
        EngineLimits: {
            available: boolean;
            name: string;
            /** @description When a turn last received a report; without one, the time of this answer. */
            refreshedAt: string;
            source: string;
            stale?: boolean;
            /**
             * @description live: reported within five minutes. cached: reported earlier. static: not reported yet. unsupported: never reported. error: not installed, or the report failed.
             * @enum {string}
             */
            status: "live" | "cached" | "static" | "unsupported" | "error";
            windows?: {
                name: string;
                /** @description Epoch seconds. */
                resetsAt: number | null;
                resetsAtIso: string | null;
                usedPercent: number | null;
                windowDurationMins: number | null;
            }[];
        } & {
            [key: string]: unknown;
        };
        Erasure: {
            files: number;
            /** @description Backups and set-aside copies that still hold it, and when each goes by itself. */
            heldBy: {
                /**
                 * Format: date-time
                 * @description ISO-8601, UTC, milliseconds
                 */
                at: string;
                path: string;
                until: string | null;
            }[];
            /** @description Log entries that were blanked; 0 where nothing was erased yet. */
            logEntries: number;
            messages: number;
            /** @description Work items and sessions that received reports of this work; those are kept. */
            reportedTo: string[];
            sessions: string[];
            /** @description Running, or waiting for their provider: stop them, then erase again. */
            skipped: string[];
        };
        Failure: {
            /** @description UPPER_SNAKE, for programs. */
            code: string;
            /** @description A sentence for a person. */
            error: string;
        } & {
            [key: string]: unknown;
        };
        File: {
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            createdAt: string;
            filename: string;
            id: string;
            /** @description From the file name's extension; never trusted. */
            mimetype: string;
            /** @description Relative to the home; for GET /api/files/read. */
            path: string;
            sessionId: string | null;
            /** @description bytes */
            size: number;
        };
        HeldDecision: {
            actorId: string;
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            decidedAt: string;
            decidedBy: string;
            /** @enum {string} */
            decision: "approve" | "reject" | "escalate" | "again";
            id: string;
            kind: string;
            /** @description Why it was refused. */
            reason: string | null;
            /** @enum {string} */
            status: "held" | "deciding" | "pausing" | "decided" | "refused" | "withdrawn";
            /**
             * Format: date-time
             * @description When it is carried out.
             */
            until: string;
            waitingId: string;
        };
        ImportReport: {
            applied: boolean;
            entries: {
                /** @enum {string} */
                change: "create" | "change" | "same";
                /** @description Lines, each behind `+`, `-` or a space. */
                diff: string[];
                /** @description `org/garden/ann.yaml`, `workflow watering`, `work item TRP-12 (here TRP-3)`, `session …`. */
                name: string;
            }[];
            sha256: string;
            title: string;
        };
        Media: {
            mimeType: string;
            name: string;
            size: number;
            /** @enum {string} */
            type: "image" | "audio" | "file";
            url: string;
        };
        Message: {
            /** @description Cards: of a delegation, how its session stands now. */
            blocks?: ({
                id: string;
                status: string;
                type: string;
            } & {
                [key: string]: unknown;
            })[];
            content: string;
            id: string;
            media?: {
                [key: string]: unknown;
            }[];
            meta?: ({
                kind?: string;
            } & {
                [key: string]: unknown;
            }) | null;
            partial?: boolean;
            /** @enum {string} */
            role: "user" | "assistant" | "notification";
            /** @description epoch milliseconds */
            timestamp: number;
            /** @description The tool that was used or asked for. */
            toolCall?: string;
            toolId?: string;
        } & {
            [key: string]: unknown;
        };
        NotificationDestination: {
            destination: {
                channel?: string;
                connector?: string;
                /** @description Id of a paired browser. */
                device?: string;
                /** @enum {string} */
                type: "connector" | "command" | "push";
            };
            /** @description Why the last attempt failed. */
            detail: string | null;
            failingSince: string | null;
            /** @description Failed attempts since a message arrived last. */
            failures: number;
            /** @description `<connector>:<channel>`, `command`, or `push.<device>`. */
            name: string;
            /** @description Things that wait and are held back, being sent, or sent. */
            open: number;
            /** @description Messages sent so far. */
            sent: number;
            /**
             * @description holding: something waits to be due. pausing: a message failed and will be tried again.
             * @enum {string}
             */
            status: "idle" | "holding" | "sending" | "pausing";
        };
        Session: {
            attemptOutcome: ("succeeded" | "failed" | "interrupted") | null;
            /** @description Of the git worktree that it works in. */
            branch: string | null;
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            createdAt: string;
            effortLevel: string | null;
            employee: string | null;
            engine: string;
            id: string;
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            lastActivity: string;
            lastError: string | null;
            model: string | null;
            parentSessionId: string | null;
            promptExcerpt: string | null;
            queueDepth: number;
            /**
             * @description `stopped` is final for pollers; a later message resumes the session.
             * @enum {string}
             */
            status: "running" | "idle" | "error" | "interrupted" | "stopped" | "waiting";
            title: string | null;
            toolPolicy: {
                allow: string[];
                /** @enum {string} */
                mode: "ask" | "allow-list" | "full";
            };
            totalCost: number;
            totalTurns: number;
            /** @enum {string} */
            transportState: "idle" | "queued" | "running" | "error" | "interrupted";
            /** @description Of another machine, on which it runs. */
            worker: string | null;
            workerLabels: string[];
            workItemId: string | null;
        } & {
            [key: string]: unknown;
        };
        Skill: {
            /** @description The whole SKILL.md. */
            content: string;
            name: string;
        };
        Trigger: {
            /** @enum {string} */
            activation: "active" | "pending_approval" | "disabled";
            event: string;
            kind: string;
            name: string;
            targetWorkflowId: string;
        } & {
            [key: string]: unknown;
        };
        VerifyPolicy: {
            maxRounds?: number;
            /** @enum {string} */
            mode: "trust" | "verify" | "thorough";
            /** @description The `employee` who reviews each successful attempt, once per round, in a new session on `engine` and `model` where given. The review sends the item back or completes it. No employee reviews their own work. Without an employee no review is requested. */
            verifier?: {
                employee?: string;
                engine?: string;
                model?: string;
            };
        };
        Worker: {
            /** @description Of another machine: when it connected last. */
            connectedAt: string | null;
            engines: string[];
            labels: string[];
            /** @description Resident memory of the process, without its agents. Null where it cannot be known. */
            memoryBytes: number | null;
            name: string;
            pid: number | null;
            /**
             * @description here: on the machine of the gateway.
             * @enum {string}
             */
            place: "here" | "elsewhere";
            /** @description Folders there in which its agents may work. */
            roots: string[];
            /** @description Turns at once. Null: it shares those of the gateway. */
            slots: number | null;
            startedAt: string | null;
            /**
             * @description serving: turns begin there. draining: only what it has goes on. earlier: it has turns that an earlier life of the gateway began. Of another machine also invited: it has not joined yet; away: it is not connected.
             * @enum {string}
             */
            state: "serving" | "draining" | "earlier" | "invited" | "away";
            turns: {
                engine: string;
                sessionId: string;
                /** Format: date-time */
                since: string;
                turnId: string;
            }[];
            /** @description Of Troupe. Null where it is not known: of an older build, or not connected yet. */
            version: string | null;
        };
        WorkflowDefinition: {
            concurrency: number;
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            createdAt: string;
            createdBy: string;
            department: string | null;
            description: string | null;
            edges: ({
                from: string;
                id: string;
                /** @enum {string} */
                kind: "sequence" | "handoff" | "loop";
                to: string;
            } & {
                [key: string]: unknown;
            })[];
            id: string;
            name: string;
            nodes: ({
                id: string;
                label: string;
                type: string;
            } & {
                [key: string]: unknown;
            })[];
            owner: string | null;
            /** @constant */
            schemaVersion: 1;
            /** @enum {string} */
            status: "active" | "paused" | "retired";
            title: string;
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            updatedAt: string;
            version: number;
        } & {
            [key: string]: unknown;
        };
        WorkflowFault: {
            code: string;
            message: string;
            path?: string;
            ref?: string;
        } & {
            [key: string]: unknown;
        };
        WorkflowReceipt: {
            attempt: number;
            label: string;
            nodeId: string;
            status: string;
        } & {
            [key: string]: unknown;
        };
        WorkflowRun: {
            definitionVersion: number;
            endedAt: string | null;
            order: string[];
            parked: {
                [key: string]: unknown;
            } | null;
            revision: number;
            rounds: number;
            runId: string;
            /** @constant */
            schemaVersion: 3;
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            startedAt: string;
            /** @enum {string} */
            status: "running" | "parked" | "completed" | "failed" | "cancelled";
            steps: components["schemas"]["WorkflowReceipt"][];
            title: string;
            workflowId: string;
        } & {
            [key: string]: unknown;
        };
        WorkItem: {
            acceptance: string | null;
            approvalDecidedAt: string | null;
            approvalDecidedBy: string | null;
            approvalEscalatedAt: string | null;
            approvalRequest: string | null;
            approvalState: ("pending" | "approved" | "rejected") | null;
            approvalTarget: string | null;
            approvalTargetKind: ("employee" | "virtual" | "none") | null;
            assignee: string | null;
            /** @description How often sessions began to work on it. */
            attemptCount?: number | null;
            body: string | null;
            closedAt: string | null;
            /** @description What they cost, as far as their engines say. */
            costUsd?: number | null;
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            createdAt: string;
            department: string | null;
            id: string;
            priority: number;
            rank: number | null;
            rounds: number;
            /** @enum {string} */
            source: "human" | "delegation" | "cron" | "workflow" | "session" | "connector" | "goal";
            sourceRef: string | null;
            /** @enum {string} */
            status: "backlog" | "assigned" | "executing" | "in_review" | "blocked" | "escalated" | "done" | "cancelled";
            /** @description Since when it has its status. */
            statusSince?: string | null;
            title: string;
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            updatedAt: string;
            verifyPolicy: components["schemas"]["VerifyPolicy"] | null;
            version: number;
        } & {
            [key: string]: unknown;
        };
        WorkItemEvent: {
            actor: string | null;
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            createdAt: string;
            fromStatus: string | null;
            id: string;
            kind: string;
            toStatus: string | null;
            workItemId: string;
        } & {
            [key: string]: unknown;
        };
        WorkItemRow: {
            approvalEscalatedAt: string | null;
            approvalRef: string | null;
            approvalRequest: string | null;
            approvalState: ("pending" | "approved" | "rejected") | null;
            approvalTarget: string | null;
            assignee: string | null;
            /** @description How often sessions began to work on it. */
            attemptCount?: number | null;
            /** @description What they cost, as far as their engines say. */
            costUsd?: number | null;
            department: string | null;
            id: string;
            rank: number | null;
            sessionRef: {
                ref: string;
                sessionId: string;
            } | null;
            /** @enum {string} */
            source: "human" | "delegation" | "cron" | "workflow" | "session" | "connector" | "goal";
            sourceRef: string | null;
            /** @enum {string} */
            status: "backlog" | "assigned" | "executing" | "in_review" | "blocked" | "escalated" | "done" | "cancelled";
            /** @description Since when it has its status. */
            statusSince?: string | null;
            title: string;
            /**
             * Format: date-time
             * @description ISO-8601, UTC, milliseconds
             */
            updatedAt: string;
            version: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "get /": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /a2a/:name": {
        parameters: {
            query?: never;
            header?: {
                /** @description `1.0`. */
                "A2A-Version"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id?: string | number | null;
                    /** @constant */
                    jsonrpc: "2.0";
                    method?: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "TOO_MANY" | "AGENT_QUOTA" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /a2a/:name/.well-known/agent-card.json": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/a2a": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        employees: {
                            /** @description Null: it has none, and no one gets in. */
                            credentialSince: string | null;
                            displayName: string;
                            messageCharsMax: number;
                            messagesPerMinute: number;
                            name: string;
                            /** @description Below the address of the gateway. */
                            path: string;
                            tasksMax: number;
                        }[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/a2a/:name/credential": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The one before it holds no longer. */
                    replace?: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Shown this once. The agent sends it as a bearer to the address of the card. */
                        credential: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/a2a/:name/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/attention": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Decisions can be sent to `POST /api/held-decisions`. */
                        holds: boolean;
                        nextCursor: string | null;
                        waiting: {
                            /** @description It is decided, and that is carried out at `until` unless it is withdrawn. */
                            held?: {
                                /** @description `operator`, or `device:` and the id of a paired browser. */
                                decidedBy: string;
                                /** @enum {string} */
                                decision: "approve" | "reject" | "escalate" | "again";
                                decisionId: string;
                                /**
                                 * Format: date-time
                                 * @description ISO-8601, UTC, milliseconds
                                 */
                                until: string;
                            };
                            /** @description Id of that actor. */
                            id: string;
                            /** @description Kind of the actor that waits: `session`, `work-item`, `workflow-run`, `poll` … */
                            kind: string;
                            /** @description Who can end it: `operator` for a person, else an employee. */
                            on: string;
                            /** @description A person may end it: not what waits on an employee below the root. */
                            operatorEntitled: boolean;
                            /** @description Of a tool: what `always` would allow in its session from now on. */
                            rule?: string;
                            since: string;
                            title: string;
                            /** @description When it ends by itself. */
                            until: string | null;
                            /** @description What of it waits, e.g. the id of a tool permission, or the hash of a polling program. */
                            waitingId: string;
                            /** @description `permission`, `approval`, `gate`, `activation`, `version` (of a workflow), `budget`, `resume`, `silent`, `trust` (settings of a project), `move`, `delivery` (a message that did not arrive), `unknown-delivery` (one that may have), `connector`, `notification` (a destination that fails), `backup` (backups that fail), `worker` (one that cannot take the turns that wait for it), or a word of a host. */
                            what: string;
                            /** @description Id of the workflow that a run belongs to, or the folder to trust. */
                            within?: string;
                        }[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/auth/bootstrap": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        authRequired: true;
                        device: {
                            /** Format: date-time */
                            createdAt: string;
                            /** @description True for the calling browser. */
                            current: boolean;
                            id: string;
                            /** @enum {string} */
                            kind: "local" | "remote" | "token";
                            lastIp?: string;
                            /** Format: date-time */
                            lastSeenAt: string;
                            name: string;
                            /** @description Who uses it. */
                            person?: string;
                            userAgent?: string;
                        };
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "PAIRING_CODE_INVALID" | "FORBIDDEN" | "LOCAL_ONLY" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "TOO_MANY" | "OUTCOME_UNKNOWN" | "DEVICES_DAMAGED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/auth/bootstrap-grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    challengeId?: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        expiresAt: string;
                        grant: string;
                        /** @constant */
                        status: "ok";
                        ttlSeconds: number;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "LOCAL_ONLY" | "CHALLENGE_FAILED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/auth/devices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        devices: {
                            /** Format: date-time */
                            createdAt: string;
                            /** @description True for the calling browser. */
                            current: boolean;
                            id: string;
                            /** @enum {string} */
                            kind: "local" | "remote" | "token";
                            lastIp?: string;
                            /** Format: date-time */
                            lastSeenAt: string;
                            name: string;
                            /** @description Who uses it. */
                            person?: string;
                            userAgent?: string;
                        }[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DEVICES_DAMAGED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "delete /api/auth/devices/:id": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        current: boolean;
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "UNSUPPORTED_MEDIA_TYPE" | "DEVICES_DAMAGED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "patch /api/auth/devices/:id": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Who uses this browser. Null: no one is named. */
                    person: string | null;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DEVICES_DAMAGED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/auth/devices/:id/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        decisions: ({
                            /** Format: date-time */
                            at: string;
                            /** @description What it was let do: the `x-authority` of the route. */
                            authority: string;
                            method: string;
                            person?: string;
                            target?: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "UNSUPPORTED_MEDIA_TYPE" | "DEVICES_DAMAGED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/auth/pair": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    code: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        authRequired: true;
                        device: {
                            /** Format: date-time */
                            createdAt: string;
                            /** @description True for the calling browser. */
                            current: boolean;
                            id: string;
                            /** @enum {string} */
                            kind: "local" | "remote" | "token";
                            lastIp?: string;
                            /** Format: date-time */
                            lastSeenAt: string;
                            name: string;
                            /** @description Who uses it. */
                            person?: string;
                            userAgent?: string;
                        };
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "PAIRING_CODE_INVALID" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "TOO_MANY" | "OUTCOME_UNKNOWN" | "DEVICES_DAMAGED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/auth/pairing-challenges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        challengeId: string;
                        /** Format: date-time */
                        expiresAt: string;
                        nonce: string;
                        path: string;
                        ttlSeconds: number;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "LOCAL_ONLY" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "TOO_MANY" | "OUTCOME_UNKNOWN" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/auth/pairing-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    challengeId?: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description XXXX-XXXX-XXXX */
                        code: string;
                        /** Format: date-time */
                        expiresAt: string;
                        /** @constant */
                        status: "ok";
                        ttlSeconds: number;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "CHALLENGE_FAILED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/auth/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        authenticated: boolean;
                        authRequired: boolean;
                        canBootstrapLocal: boolean;
                        instance: string;
                        networkExposed: boolean;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/backup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Must not exist, or be an empty folder outside the home. Absent: one backup of the schedule, now. */
                    target?: string & (unknown & unknown);
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        bytes: number;
                        files: number;
                        /** @description Log position of the copy. */
                        seq: number;
                        target: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "put /api/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        changed: string[];
                        config: {
                            [key: string]: unknown;
                        };
                        /** @description Keys of `changed` that hold after a restart. */
                        needsRestart: string[];
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/connectors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connector"][];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/connectors/:name/deliveries": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deliveries: components["schemas"]["Delivery"][];
                        /** @description `cursor` of the next page; null at the end. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/connectors/:name/deliveries/:deliveryId": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deliveryId: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        delivery: components["schemas"]["Delivery"];
                        /** @description Kept until it has arrived or a person has decided; of a failed one for a day. */
                        text: string | null;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/connectors/:name/deliveries/:deliveryId/settle": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                deliveryId: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description arrived: it did after all (of `unknown` only). send-again: it is queued once more, under the same id. give-up: it stays as it is.
                     * @enum {string}
                     */
                    choice: "arrived" | "send-again" | "give-up";
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    /** @description Of `GET /api/attention`: 409 if it was tried again since, and what came of that waits. Absent: whatever waits of it. */
                    waitingId?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        delivery: components["schemas"]["Delivery"];
                        /** @description Kept until it has arrived or a person has decided; of a failed one for a day. */
                        text: string | null;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "QUEUE_FULL" | "OUTCOME_UNKNOWN" | "CONNECTOR_UNAVAILABLE" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/connectors/:name/send": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The remote service's name for it: a channel, a chat, an address. */
                    channel: string;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    text: string;
                    thread?: string | null;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deliveryId: string;
                        messageId: string | null;
                        reason: string | null;
                        /**
                         * @description unknown: it may have arrived; sending again is your decision. pending: still being delivered; `connector:delivery` on /ws reports the outcome.
                         * @enum {string}
                         */
                        status: "sent" | "failed" | "unknown" | "pending";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "QUEUE_FULL" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "CONNECTOR_UNAVAILABLE" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/connectors/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        errors: string[];
                        started: string[];
                        stopped: string[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/cost/report": {
        parameters: {
            query?: {
                employee?: string;
                groupBy?: "employee" | "engine" | "model" | "session" | "workItem" | "day";
                limit?: string;
                since?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        groupBy: string;
                        groups: {
                            cachedTokens: number;
                            costUsd: number;
                            inputTokens: number;
                            key: string | null;
                            outputTokens: number;
                            sessions: number;
                            /** @description Of a session or work item that can be read. */
                            title?: string | null;
                            turns: number;
                        }[];
                        /** @description In which days begin: `portal.timeZone`. */
                        timeZone: string;
                        totals: {
                            cachedTokens: number;
                            costUsd: number;
                            inputTokens: number;
                            outputTokens: number;
                            sessions: number;
                            turns: number;
                        };
                        truncated: boolean;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/cron": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CronJobRow"][];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/cron": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    delivery?: {
                        channel: string;
                        connector: string;
                    } | null;
                    effortLevel?: string | null;
                    employee?: string | null;
                    /** @description Default true. */
                    enabled?: boolean;
                    engine?: string | null;
                    id?: string;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    /**
                     * @description How many runs missed while the gateway was down are caught up: none (default), one, or all (the newest 24).
                     * @enum {string}
                     */
                    missed?: "skip" | "once" | "all";
                    model?: string | null;
                    /** @description Default "untitled". */
                    name?: string;
                    prompt: string;
                    /** @description Five fields: minute, hour, day of the month, month, day of the week. Default `0 * * * *`. */
                    schedule?: string;
                    /** @description IANA name. Default: `portal.timeZone`, else that of the machine. */
                    timezone?: string | null;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CronJob"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNKNOWN_EMPLOYEE" | "UNKNOWN_ENGINE" | "UNKNOWN_MODEL" | "UNKNOWN_EFFORT" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/cron/:id": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CronJob"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "put /api/cron/:id": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    delivery?: {
                        channel: string;
                        connector: string;
                    } | null;
                    effortLevel?: string | null;
                    employee?: string | null;
                    /** @description Default true. */
                    enabled?: boolean;
                    engine?: string | null;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    /**
                     * @description How many runs missed while the gateway was down are caught up: none (default), one, or all (the newest 24).
                     * @enum {string}
                     */
                    missed?: "skip" | "once" | "all";
                    model?: string | null;
                    /** @description Default "untitled". */
                    name?: string;
                    prompt?: string;
                    /** @description Five fields: minute, hour, day of the month, month, day of the week. Default `0 * * * *`. */
                    schedule?: string;
                    /** @description IANA name. Default: `portal.timeZone`, else that of the machine. */
                    timezone?: string | null;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CronJob"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNKNOWN_EMPLOYEE" | "UNKNOWN_ENGINE" | "UNKNOWN_MODEL" | "UNKNOWN_EFFORT" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "delete /api/cron/:id": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deleted: string;
                        name: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/cron/:id/runs": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CronRun"][] | {
                        /** @description `cursor` of the next page; null at the end. */
                        nextCursor: string | null;
                        runs: components["schemas"]["CronRun"][];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/cron/:id/trigger": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        employee?: string;
                        jobId: string;
                        message: string;
                        name: string;
                        /** @constant */
                        triggered: true;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "QUEUE_FULL" | "OUTCOME_UNKNOWN" | "DISK_LOW" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/delegations": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    attachments?: string[];
                    cwd?: string | null;
                    effort?: string | null;
                    /** @description The same as `effort`. */
                    effortLevel?: string | null;
                    employee?: string | null;
                    engine?: string | null;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    model?: string | null;
                    parent?: string | null;
                    /** @description The same as `parent`. */
                    parentSessionId?: string | null;
                    task: string;
                    title?: string | null;
                    /** @description The open Todo to attempt; default: a new one. */
                    workItemId?: string | null;
                    /** @description A git worktree of its own, of the repository in `cwd` or in the employee's folder. */
                    worktree?: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        effortLevel: string | null;
                        employee: string | null;
                        engine: string;
                        model: string | null;
                        /** @constant */
                        replayed?: true;
                        sessionId: string;
                        /** @enum {string} */
                        status: "running" | "idle" | "error" | "interrupted" | "stopped" | "waiting";
                        title: string;
                        workItemId: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNKNOWN_EMPLOYEE" | "UNKNOWN_ENGINE" | "UNKNOWN_MODEL" | "UNKNOWN_EFFORT" | "UNKNOWN_ATTACHMENT" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "NOT_OWNER" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "TERMINAL" | "CONFLICT" | "LIVE_ATTEMPT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "ENGINE_UNAVAILABLE" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/engine-limits": {
        parameters: {
            query?: {
                engine?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        default: string | null;
                        engines: {
                            [key: string]: components["schemas"]["EngineLimits"];
                        };
                        generatedAt: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/engine-limits/refresh": {
        parameters: {
            query?: {
                engine?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        default: string | null;
                        engines: {
                            [key: string]: components["schemas"]["EngineLimits"];
                        };
                        generatedAt: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/engines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        default: string | null;
                        engines: {
                            [key: string]: components["schemas"]["Engine"];
                        };
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/engines/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        default: string | null;
                        engines: {
                            [key: string]: components["schemas"]["Engine"];
                        };
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/erase": {
        parameters: {
            query?: {
                before?: string;
                person?: string;
                sessionId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Sessions without activity since. */
                    before?: string;
                    /** @description Sessions of that employee. */
                    person?: string;
                    sessionId?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/export": {
        parameters: {
            query: {
                name?: string;
                what: "company" | "employee" | "workflow" | "item" | "session";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description YAML; of a session JSON. */
                        bundle: string;
                        secretsRemoved: number;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "WORKFLOWS_DISABLED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/features": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: false;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/files": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
                offset?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["File"][] | {
                        files: components["schemas"]["File"][];
                        nextCursor: string | null;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/files": {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The bytes as base64 (RFC 4648, padded). */
                    content?: string;
                    filename?: string;
                    /** @description Ignored: the extension of the file name decides. */
                    mimetype?: string;
                    /** @description A file on the gateway's machine: under files/ or uploads/, elsewhere only with gateway.allowFileCustomPaths. */
                    path?: string;
                    /** @description A public http or https address. Private, loopback and other special addresses are refused. */
                    url?: string;
                };
                "multipart/form-data": {
                    /** Format: binary */
                    file: string;
                    filename?: string;
                    text?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["File"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "URL_REFUSED" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "FETCH_FAILED" | "BUSY" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DRAINING" | "ACTOR_HALTED" | "DISK_LOW" | "QUOTA_EXCEEDED";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/files/:id": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "RANGE_NOT_SATISFIABLE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "delete /api/files/:id": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        /** @constant */
                        status: "deleted";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/files/:id/meta": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["File"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/files/:id/open": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "opened";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/files/read": {
        parameters: {
            query: {
                path: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        binary: boolean;
                        /** @description Only for text files below the size limit. */
                        content?: string;
                        mime: string;
                        path: string;
                        resolvedPath: string;
                        size: number;
                        tooLarge: boolean;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/held-decisions": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Of a tool: keep its rule for the session. */
                    always?: boolean;
                    /** @enum {string} */
                    decision: "approve" | "reject" | "escalate" | "again";
                    /**
                     * @description As long can it be withdrawn. Default 5.
                     * @default 5
                     */
                    holdSeconds?: number;
                    id: string;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    /** @description `kind`, `id` and `waitingId` as in `GET /api/attention`. */
                    kind: string;
                    note?: string;
                    /** @description With `always`: another rule for part of the tool. */
                    rule?: string;
                    /** @description Of a budget: dollars more for this month. */
                    usd?: number;
                    waitingId: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        decision: components["schemas"]["HeldDecision"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/held-decisions/:id": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        decision: components["schemas"]["HeldDecision"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "delete /api/held-decisions/:id": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        decision: components["schemas"]["HeldDecision"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Default false: only preview. */
                    apply?: boolean;
                    /** @description YAML or JSON. */
                    bundle: string;
                    /** @description Overwrite what is here and differs; without it that is refused. */
                    replace?: boolean;
                    /** @description Of the preview: refused if the import would do something else by now. */
                    sha256?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportReport"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNKNOWN_ENGINE" | "UNKNOWN_MODEL" | "UNKNOWN_EFFORT" | "WORKFLOW_INVALID" | "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "EXISTS" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DISK_LOW" | "WORKFLOWS_DISABLED" | "DRAINING" | "QUOTA_EXCEEDED";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/actors": {
        parameters: {
            query: {
                after?: string;
                age?: string;
                cursor?: string;
                kind: string;
                limit?: string;
                offset?: string;
                order?: "id" | "age";
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        actors: ({
                            id: string;
                            kind: string;
                            seq: number;
                            value: unknown;
                        } & {
                            [key: string]: unknown;
                        })[];
                        next: string | null;
                        /** @description `cursor` of the next page; null at the end. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/actors/:kind/:id": {
        parameters: {
            query?: {
                at?: string;
            };
            header?: never;
            path: {
                id: string;
                kind: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        kind: string;
                        seq: number;
                        value: unknown;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/actors/:kind/:id/history": {
        parameters: {
            query?: {
                before?: string;
                cursor?: string;
                diff?: "0" | "1" | "true" | "false";
                limit?: string;
                revision?: string;
            };
            header?: never;
            path: {
                id: string;
                kind: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        entries: ({
                            at: number;
                            from: unknown;
                            id: string;
                            kind: string;
                            seq: number;
                            to: unknown;
                        } & {
                            [key: string]: unknown;
                        })[];
                        /** @description `cursor` of the next page; null at the end. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/inspect/actors/:kind/:id/resume": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                kind: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        kind: string;
                        seq: number;
                        value: unknown;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/inspect/actors/:kind/:id/send": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                kind: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description One of the events that the kind allows people to send (`sendable`), with its members. */
                    event: {
                        type: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        id: string;
                        kind: string;
                        seq: number;
                        value: unknown;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNKNOWN_EVENT" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/actors/:kind/:id/why": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                kind: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What brought it here; absent where the log is trimmed. */
                        last?: {
                            at: number;
                            /** @description Whose hand it was. */
                            by: string;
                            event: string;
                            /** @description Who caused it, where that is another. */
                            onBehalfOf?: string[];
                            position: number;
                        } & {
                            [key: string]: unknown;
                        };
                        next: ({
                            allowed: boolean;
                            event: string;
                            needs?: string[];
                            refusal?: {
                                code: string;
                                message: string;
                            } & {
                                [key: string]: unknown;
                            };
                            /** @description The members that it takes, each as JSON Schema. */
                            schema?: {
                                properties: {
                                    [key: string]: unknown;
                                };
                                required: string[];
                            };
                            sendable: boolean;
                            to?: string[];
                        } & {
                            [key: string]: unknown;
                        })[];
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/actors/:kind/:id/work": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                kind: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Of a session that waits for a process slot: its place in the queue. */
                        place: number | null;
                        processes: {
                            isAlive: boolean | null;
                            machine: string | null;
                            pid: number;
                        }[];
                        /** @description The end of what it said and is not stored yet. Null after a restart. */
                        said: {
                            /** @description Epoch ms. */
                            at: number;
                            text: string;
                        } | null;
                        /** @description Of a session: the worker in which its turn runs. Null where it runs in the gateway. */
                        worker: {
                            /** @description Resident, without its agents. */
                            memoryBytes: number | null;
                            name: string;
                            pid: number;
                            /** @description Since when the turn is there. Epoch ms. */
                            since: number;
                            /** @description Epoch ms. */
                            startedAt: number;
                            /** @enum {string} */
                            state: "serving" | "draining" | "earlier";
                        } | null;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/bundle": {
        parameters: {
            query?: {
                from?: string;
                id?: string;
                kind?: string;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        actors: ({
                            id: string;
                            kind: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                        /** @constant */
                        format: "troupe-bundle";
                        from: number;
                        to: number;
                        truncated: boolean;
                        /** @constant */
                        version: 1;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/causes/:seq": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                seq: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        entries: ({
                            seq: number;
                        } & {
                            [key: string]: unknown;
                        })[];
                        links: {
                            from: number;
                            how: string;
                            to: number;
                        }[];
                        root: number;
                        seq: number;
                        /** @description By `kind/id`. */
                        titles: {
                            [key: string]: string;
                        };
                        truncated: boolean;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/dead-letters": {
        parameters: {
            query?: {
                before?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deadLetters: ({
                            at: number;
                            error: string;
                            faultId: string;
                            id: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                        /** @description `before` of the next page; null at the end. */
                        next: string | null;
                        /** @description `cursor` of the next page; null at the end. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "delete /api/inspect/dead-letters/:id": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        dismissed: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/inspect/dead-letters/:id/retry": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        retried: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/fleet": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        kinds: ({
                            halted: number;
                            kind: string;
                            states: {
                                [key: string]: number;
                            };
                            total: number;
                        } & {
                            [key: string]: unknown;
                        })[];
                        seq: number;
                        /** @description `portal.timeZone` */
                        timeZone: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/machines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        machines: ({
                            hash: string;
                            kind: string;
                            version: number;
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/machines/:kind": {
        parameters: {
            query?: {
                format?: "json" | "svg";
                state?: string;
            };
            header?: never;
            path: {
                kind: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        hash: string;
                        kind: string;
                        version: number;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/pulse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Events a second, over the last five. */
                        perKind: {
                            [key: string]: number;
                        };
                        /** @description Events in each of the last sixty seconds, the present one last. */
                        perSecond: number[];
                        refusals: ({
                            at: number;
                            id: string;
                            kind: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                        refused: number;
                        /** @description Epoch ms; what happened before is not known. */
                        since: number;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/quotas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        agents: ({
                            /** @description `employee:<name>`, or `session:<id>` of the top of its tree. */
                            agent: string;
                            inHour: {
                                [key: string]: number;
                            };
                            /** @description The quota that it met last: from then on it was refused. Epoch ms. */
                            met?: {
                                at: number;
                                /** @enum {string} */
                                per: "hour" | "total";
                                quota: string;
                            };
                            /** @description When the hour ends, epoch ms. */
                            resetAt: number;
                            total: {
                                [key: string]: number;
                            };
                        } & {
                            [key: string]: unknown;
                        })[];
                        limits: {
                            [key: string]: {
                                hour: number;
                                total: number;
                            };
                        };
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/inspect/stately-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description How many of each kind are introduced at the beginning; default 50. */
                    first?: string;
                    /** @description Only actors with these ids. */
                    ids?: string[];
                    /** @description Only actors of these kinds. */
                    kinds?: string[];
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        expiresAt: string;
                        /** @description To be put behind `ws://host:port` or `wss://…`. Keep it as a secret. */
                        path: string;
                        ttlSeconds: number;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "BUSY" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/stuck": {
        parameters: {
            query?: {
                longSeconds?: string;
                quietSeconds?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deadLetters: ({
                            at: number;
                            error: string;
                            id: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                        /** @description Of all dead letters. */
                        deadLettersCount: number;
                        /** @description Engines that cannot run and for which sessions wait. */
                        engines: ({
                            name: string;
                            reason: string | null;
                            sessions: number;
                        } & {
                            [key: string]: unknown;
                        })[];
                        /** @description There are more of one of them. */
                        isCut: boolean;
                        /** @description States that hold more actors than were read, with the number of all. */
                        more: {
                            count: number;
                            kind: string;
                            read: number;
                            state: string;
                        }[];
                        slow: ({
                            /** @description Of a run that is queued: the runs of its workflow one of which has to end first. */
                            behind?: {
                                runs: {
                                    id: string;
                                    title: string | null;
                                }[];
                                workflow: string;
                            } | null;
                            id: string;
                            kind: string;
                            /** @description Epoch ms. */
                            slowSince: number;
                            /** @enum {string} */
                            why: "queued" | "quiet" | "long";
                        } & {
                            [key: string]: unknown;
                        })[];
                        /** @description Halted, failed, blocked. */
                        stopped: ({
                            id: string;
                            kind: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/supervision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        circuits: {
                            name: string;
                            /** @description Epoch ms; when it is tried again. */
                            nextTry: number | null;
                            reason: string | null;
                            /** @description Epoch ms. */
                            since: number | null;
                            /** @enum {string} */
                            state: "closed" | "half-open" | "open";
                            /** @enum {string} */
                            status: "works" | "starting" | "failing" | "stopped" | "unavailable";
                            /** @enum {string} */
                            type: "engine" | "connector";
                        }[];
                        kinds: ({
                            intensity: number;
                            kind: string;
                            periodSeconds: number;
                            restarts: number;
                            strategy: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                        root: {
                            state: string;
                        } & {
                            [key: string]: unknown;
                        };
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/inspect/tree": {
        parameters: {
            query: {
                after?: string;
                cursor?: string;
                id?: string;
                kind: string;
                limit?: string;
                offset?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        actors: ({
                            hasChildren: boolean;
                            id: string;
                            kind: string;
                            value: unknown;
                        } & {
                            [key: string]: unknown;
                        })[];
                        next: string | null;
                        /** @description `cursor` of the next page; null at the end. */
                        nextCursor: string | null;
                        /** @description Actors read for this page. */
                        read: number;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/instance-migration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/instances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        current: true;
                        /** @description Where it listens: may have been given at the start, over config.yaml. */
                        host: string;
                        name: string;
                        port: number;
                        /** @constant */
                        running: true;
                    }[];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/internal/hook": {
        parameters: {
            query?: never;
            header?: {
                /** @description `secret` of gateway.json. */
                "x-svc-hook-secret"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The conversation's id in the agent's own program, as Claude Code gives it to its hooks. */
                    session_id: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The session; null: none holds it. */
                        sessionId: string | null;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "TOO_MANY" | "AGENT_QUOTA" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/knowledge": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description False while the index is being built after a start. */
                        complete: boolean;
                        documents: {
                            bytes: number;
                            /**
                             * Format: date-time
                             * @description ISO-8601, UTC, milliseconds
                             */
                            changedAt: string;
                            /** @description `operator` or `device:<id>`; null where it was changed in the folder of the home. */
                            changedBy: string | null;
                            path: string;
                            title: string;
                        }[];
                        /** @description `cursor` of the next page; null at the end. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "BUSY" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/knowledge/read": {
        parameters: {
            query: {
                path: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        content: string;
                        path: string;
                        title: string;
                        totalChars: number;
                        truncated: boolean;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/knowledge/search": {
        parameters: {
            query: {
                q: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description False while the index is being built after a start. */
                        complete: boolean;
                        query: string;
                        results: {
                            matchCount: number;
                            path: string;
                            /** @description Matches between « and ». */
                            snippet: string;
                            title: string;
                        }[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "BUSY" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/logs": {
        parameters: {
            query?: {
                n?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        lines: string[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        destinations: components["schemas"]["NotificationDestination"][];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/onboarding": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        companyName: string | null;
                        companyPrefix: string | null;
                        hasEmployees: boolean;
                        language: null;
                        /** @constant */
                        needed: false;
                        /** @constant */
                        onboarded: true;
                        operatorName: null;
                        portalName: string | null;
                        sessionsCount: number;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/org": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        departmentDetails: {
                            description: string | null;
                            displayName: string;
                            name: string;
                        }[];
                        departments: string[];
                        employees: components["schemas"]["EmployeeRow"][];
                        hierarchy: {
                            /** @description Null: the operator. */
                            root: string | null;
                            sorted: string[];
                            warnings: {
                                employee: string;
                                message: string;
                                ref: string | null;
                                type: string;
                            }[];
                        };
                        /** @description Invalid files, with the reason. */
                        setAside: {
                            file: string;
                            reason: string;
                        }[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/org/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        budgets: components["schemas"]["Budget"][];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/org/departments/:name/board": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown[] | {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "put /api/org/departments/:name/board": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown[] | {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/org/employees/:name": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Employee"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "delete /api/org/employees/:name": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Below `org` of the home. */
                        file: string;
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "patch /api/org/employees/:name": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        employee: components["schemas"]["Employee"];
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNKNOWN_EMPLOYEE" | "UNKNOWN_ENGINE" | "UNKNOWN_MODEL" | "UNKNOWN_EFFORT" | "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/org/employees/:name/budget": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/org/employees/:name/budget": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    note?: string;
                    /** @description Dollars on top of the budget, for this month. */
                    usd: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Budget"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "PERSON_REQUIRED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/push": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description `notify.push` of config.yaml. */
                        enabled: boolean;
                        /** @description `applicationServerKey`, base64url. */
                        publicKey: string;
                        subscribed: boolean;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "put /api/push": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Of the browser's push service: https, and public. */
                    endpoint: string;
                    keys: {
                        auth: string;
                        p256dh: string;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "URL_REFUSED" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DEVICES_DAMAGED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "delete /api/push": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "UNSUPPORTED_MEDIA_TYPE" | "DEVICES_DAMAGED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/retention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description How far the wall clock is ahead of the time that has verifiably passed, ms. 0: the clocks agree. Nothing is deleted for it. */
                        heldMs: number;
                        /** @description The time by which retention deletes, epoch ms. */
                        now: number;
                        /** @description What would be deleted at once if that time were allowed: log entries, and other records. */
                        wouldForget: {
                            entries: number;
                            others: number;
                        };
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/retention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description allow: that much time has passed. dismiss: it has not, the clock was set.
                     * @enum {string}
                     */
                    decision: "allow" | "dismiss";
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description How far the wall clock is ahead of the time that has verifiably passed, ms. 0: the clocks agree. Nothing is deleted for it. */
                        heldMs: number;
                        /** @description The time by which retention deletes, epoch ms. */
                        now: number;
                        /** @description What would be deleted at once if that time were allowed: log entries, and other records. */
                        wouldForget: {
                            entries: number;
                            others: number;
                        };
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/search/messages": {
        parameters: {
            query?: {
                cursor?: string;
                employee?: string;
                engine?: string;
                excludeSessionId?: string;
                includeOwnSession?: "true" | "false";
                limit?: string;
                offset?: string;
                q?: string;
                query?: string;
                role?: "user" | "assistant" | "notification";
                sessionId?: string;
                since?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        messages: ({
                            messageId: string;
                            role: string;
                            sessionId: string;
                            snippet: string;
                            timestamp: number;
                        } & {
                            [key: string]: unknown;
                        })[];
                        nextCursor: string | null;
                        nextOffset: number | null;
                        results: ({
                            messageId: string;
                            role: string;
                            sessionId: string;
                            snippet: string;
                            timestamp: number;
                        } & {
                            [key: string]: unknown;
                        })[];
                        truncated: boolean;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/search/sessions": {
        parameters: {
            query?: {
                activeBefore?: string;
                activeSince?: string;
                cursor?: string;
                employee?: string;
                engine?: string;
                excludeSessionId?: string;
                limit?: string;
                needsAttention?: "true" | "false";
                offset?: string;
                parentSessionId?: string;
                q?: string;
                since?: string;
                source?: string;
                status?: "running" | "idle" | "error" | "interrupted" | "stopped" | "waiting";
                text?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        nextCursor: string | null;
                        nextOffset: number | null;
                        results: components["schemas"]["Session"][];
                        sessions: components["schemas"]["Session"][];
                        truncated: boolean;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/search/work-items": {
        parameters: {
            query?: {
                assignee?: string;
                cursor?: string;
                department?: string;
                limit?: string;
                offset?: string;
                q?: string;
                since?: string;
                source?: "human" | "delegation" | "cron" | "workflow" | "session" | "connector" | "goal";
                status?: "backlog" | "assigned" | "executing" | "in_review" | "blocked" | "escalated" | "done" | "cancelled";
                text?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        nextCursor: string | null;
                        nextOffset: number | null;
                        results: components["schemas"]["WorkItemRow"][];
                        total: number;
                        workItems: components["schemas"]["WorkItemRow"][];
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/sessions": {
        parameters: {
            query?: {
                cursor?: string;
                group?: string;
                limit?: string;
                offset?: string;
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"][] | {
                        counts: {
                            [key: string]: number;
                        };
                        perGroup: number;
                        sessions: components["schemas"]["Session"][];
                    } | {
                        nextCursor: string | null;
                        sessions: components["schemas"]["Session"][];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    attachments?: string[];
                    /** @description An existing folder inside sessions.roots; with the token of gateway.json any folder outside the home. */
                    cwd?: string | null;
                    effort?: string | null;
                    /** @description The same as `effort`. */
                    effortLevel?: string | null;
                    employee?: string | null;
                    engine?: string | null;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    /** @description Runs on a worker that has all of these labels. People only. */
                    labels?: string[];
                    message?: string;
                    model?: string | null;
                    parent?: string | null;
                    /** @description The same as `parent`. */
                    parentSessionId?: string | null;
                    /** @description What its agent may do without a permission request: nothing, change files in its folder (`edits`), all (`full`). Of an agent's session at most what that session may. Default: as its employee's file says. */
                    permissions?: ("ask" | "edits" | "full") | null;
                    prompt?: string;
                    title?: string | null;
                    /** @description The worker of another machine to run on. People only. */
                    worker?: string | null;
                    /** @description A git worktree of its own, of the repository in `cwd` or in the employee's folder. */
                    worktree?: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNKNOWN_EMPLOYEE" | "UNKNOWN_ENGINE" | "UNKNOWN_MODEL" | "UNKNOWN_EFFORT" | "UNKNOWN_ATTACHMENT" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/sessions/:id": {
        parameters: {
            query?: {
                last?: string;
                messages?: "0" | "1";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        attemptOutcome: ("succeeded" | "failed" | "interrupted") | null;
                        /** @description Of the git worktree that it works in. */
                        branch: string | null;
                        /**
                         * Format: date-time
                         * @description ISO-8601, UTC, milliseconds
                         */
                        createdAt: string;
                        effortLevel: string | null;
                        employee: string | null;
                        engine: string;
                        id: string;
                        /**
                         * Format: date-time
                         * @description ISO-8601, UTC, milliseconds
                         */
                        lastActivity: string;
                        lastError: string | null;
                        messages?: components["schemas"]["Message"][];
                        messagesPage?: {
                            hasOlder: boolean;
                        };
                        model: string | null;
                        parentSessionId: string | null;
                        promptExcerpt: string | null;
                        queueDepth: number;
                        /**
                         * @description `stopped` is final for pollers; a later message resumes the session.
                         * @enum {string}
                         */
                        status: "running" | "idle" | "error" | "interrupted" | "stopped" | "waiting";
                        title: string | null;
                        toolPolicy: {
                            allow: string[];
                            /** @enum {string} */
                            mode: "ask" | "allow-list" | "full";
                        };
                        totalCost: number;
                        totalTurns: number;
                        /** @enum {string} */
                        transportState: "idle" | "queued" | "running" | "error" | "interrupted";
                        /** @description Of another machine, on which it runs. */
                        worker: string | null;
                        workerLabels: string[];
                        workItemId: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "put /api/sessions/:id": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The same as `effortLevel`. */
                    effort?: string | null;
                    effortLevel?: string | null;
                    engine?: string;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    model?: string | null;
                    title?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNKNOWN_ENGINE" | "UNKNOWN_MODEL" | "UNKNOWN_EFFORT" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "delete /api/sessions/:id": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "deleted";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "patch /api/sessions/:id": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The same as `effortLevel`. */
                    effort?: string | null;
                    effortLevel?: string | null;
                    engine?: string;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    model?: string | null;
                    title?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNKNOWN_ENGINE" | "UNKNOWN_MODEL" | "UNKNOWN_EFFORT" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/archive": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/attachments": {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The bytes as base64 (RFC 4648, padded). */
                    content?: string;
                    filename?: string;
                    /** @description A file on the gateway's machine: under files/ or uploads/, elsewhere only with gateway.allowFileCustomPaths. */
                    path?: string;
                    /** @description Text of the message; default: the file's name. */
                    text?: string;
                    /** @description A public http or https address. Private, loopback and other special addresses are refused. */
                    url?: string;
                };
                "multipart/form-data": {
                    /** Format: binary */
                    file: string;
                    filename?: string;
                    text?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        filename: string;
                        id: string;
                        media: components["schemas"]["Media"];
                        message: {
                            content: string;
                            id: string;
                            media: components["schemas"]["Media"][];
                            /** @constant */
                            role: "assistant";
                            timestamp: number;
                        };
                        mimetype: string;
                        path: string;
                        size: number;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "URL_REFUSED" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "FETCH_FAILED" | "BUSY" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DRAINING" | "ACTOR_HALTED" | "DISK_LOW" | "QUOTA_EXCEEDED";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/sessions/:id/changes": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Changes"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/changes/commit": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    message: string;
                    /** @description Absent: all. */
                    paths?: string[];
                    /** @description Of the changes as you have read them. */
                    version: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        commit: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "PERSON_REQUIRED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "VERSION_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/changes/discard": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Absent: all. */
                    paths?: string[];
                    /** @description Of the changes as you have read them. */
                    version: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        keptAs: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "PERSON_REQUIRED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "VERSION_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/changes/merge": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Of the commit. Absent: title and branch of the session. */
                    message?: string;
                    /**
                     * @description One commit with all changes.
                     * @default false
                     */
                    squash?: boolean;
                    /** @description Of the changes as you have read them. */
                    version: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        commit: string;
                        into: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "PERSON_REQUIRED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "VERSION_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/sessions/:id/changes/patch": {
        parameters: {
            query: {
                path: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        isCut: boolean;
                        patch: string;
                        path: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/sessions/:id/children": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"][];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/sessions/:id/context": {
        parameters: {
            query?: {
                message?: string;
                messageId?: string;
                radius?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        hasNewer: boolean;
                        hasOlder: boolean;
                        messages: components["schemas"]["Message"][];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/duplicate": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/message": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    attachments?: string[];
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    message?: string;
                    prompt?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        sessionId: string;
                        /** @constant */
                        status: "queued";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "SELF_MESSAGE" | "UNKNOWN_ATTACHMENT" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "TOO_MANY" | "QUEUE_FULL" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/sessions/:id/messages": {
        parameters: {
            query?: {
                before?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        hasOlder: boolean;
                        messages: components["schemas"]["Message"][];
                        /** @description `cursor` of the next page; null at the end. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/sessions/:id/permissions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ({
                        expiresAt: string | null;
                        id: string;
                        input: string;
                        /** @description What `always` would allow; null: only this one use can be allowed. */
                        rule?: string | null;
                        /** @enum {string} */
                        state: "pending" | "allowed" | "denied" | "expired" | "withdrawn";
                        title: string;
                        tool: string;
                    } & {
                        [key: string]: unknown;
                    })[];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "put /api/sessions/:id/permissions": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Rules, beside those that `edits` stands for: `Bash(git *)`, `Edit(src/**)`, `mcp__docs__*`. */
                    allow?: string[];
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    /** @enum {string} */
                    mode: "ask" | "allow-list" | "edits" | "full";
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "PERSON_REQUIRED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/permissions/:permission": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                permission: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Keep its `rule`: what it fits is not asked for again here. */
                    always?: boolean;
                    /** @enum {string} */
                    decision: "allow" | "deny";
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    note?: string;
                    /** @description With `always`: another rule for part of a tool, as `Bash(git status *)` or `Edit(src/**)`. */
                    rule?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "PERSON_REQUIRED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/sessions/:id/queue": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": ({
                        id: string;
                        position: number | null;
                        prompt: string | null;
                        sessionId: string;
                        /** @enum {string} */
                        status: "pending" | "running" | "completed" | "interrupted" | "cancelled";
                    } & {
                        [key: string]: unknown;
                    })[];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "delete /api/sessions/:id/queue": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        cancelled: number;
                        /** @constant */
                        status: "cleared";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "delete /api/sessions/:id/queue/:item": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                item: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        itemId: string;
                        /** @constant */
                        status: "cancelled";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/queue/:item/move": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                item: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    /** @description Where it is to wait, as `position` counts: 1 is next; behind the end is the end. */
                    position: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        itemId: string;
                        /** @constant */
                        status: "moved";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/queue/pause": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        sessionId: string;
                        /** @constant */
                        status: "paused";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/queue/resume": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        sessionId: string;
                        /** @constant */
                        status: "resumed";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/reset": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        sessionId: string;
                        /** @constant */
                        status: "reset";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/resume": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/stop": {
        parameters: {
            query?: {
                descendants?: "true" | "false";
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        sessionId: string;
                        /** @constant */
                        status: "stopped";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "NOT_DESCENDANT" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/:id/unarchive": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/sessions/:id/words": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description When the last of it came. */
                        at: string | null;
                        /** @description Where `text` ends, as `offset` of `session:delta` counts it. */
                        end: number;
                        /** @description Of the message that the answer will be; null: none is begun. */
                        messageId: string | null;
                        /** @description Its first 262,144 characters. */
                        text: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/sessions/bulk-delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    ids: string[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        preserved: {
                            code: string;
                            id: string;
                            reason: string;
                        }[];
                        /** @constant */
                        status: "deleted";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/sessions/interrupted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"][];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        description?: string;
                        name: string;
                    }[];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/skills/:name": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Skill"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "put /api/skills/:name": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    content: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The whole SKILL.md. */
                        content: string;
                        name: string;
                        /** @constant */
                        status: "updated";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "delete /api/skills/:name": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        name: string;
                        /** @constant */
                        status: "removed";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        connectors: {
                            [key: string]: unknown;
                        };
                        /** @description `default`, and one member per engine: `{model, available}`. */
                        engines: {
                            default: string | null;
                        } & {
                            [key: string]: unknown;
                        };
                        migration: {
                            required: boolean;
                        } & {
                            [key: string]: unknown;
                        };
                        port: number;
                        sessions: {
                            active: number;
                            running: number;
                            total: number;
                        };
                        /** @constant */
                        status: "ok";
                        /** @description seconds */
                        uptime: number;
                        version: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/stt/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        templates: {
                            about: string;
                            employees: string[];
                            name: string;
                            title: string;
                            workflows: string[];
                        }[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/templates/:name": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Default false: only preview. */
                    apply?: boolean;
                    /** @description Overwrite what is here and differs; without it that is refused. */
                    replace?: boolean;
                    /** @description Of the preview: refused if the import would do something else by now. */
                    sha256?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportReport"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNKNOWN_ENGINE" | "UNKNOWN_MODEL" | "UNKNOWN_EFFORT" | "WORKFLOW_INVALID" | "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "EXISTS" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DISK_LOW" | "WORKFLOWS_DISABLED" | "DRAINING" | "QUOTA_EXCEEDED";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/trust": {
        parameters: {
            query: {
                folder: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Each with what it sets: `.claude/settings.json (hooks)`. */
                        files: string[];
                        /** @description Root of the project. */
                        folder: string;
                        sha256: string | null;
                        /**
                         * @description `plain`: it sets nothing that runs programs or permits tools.
                         * @enum {string}
                         */
                        state: "plain" | "trusted" | "untrusted";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/trust": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    decision: "trust" | "withdraw" | "dismiss";
                    /** @description Absolute path of the project, or of a folder in it. */
                    folder: string;
                    /** @description Of the files as they were read; others by now: 409. */
                    sha256?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Each with what it sets: `.claude/settings.json (hooks)`. */
                        files: string[];
                        /** @description Root of the project. */
                        folder: string;
                        sha256: string | null;
                        /**
                         * @description `plain`: it sets nothing that runs programs or permits tools.
                         * @enum {string}
                         */
                        state: "plain" | "trusted" | "untrusted";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/work-items": {
        parameters: {
            query?: {
                assignee?: string;
                cursor?: string;
                department?: string;
                label?: string;
                limit?: string;
                needsAttentionFor?: string;
                offset?: string;
                q?: string;
                since?: string;
                source?: "human" | "delegation" | "cron" | "workflow" | "session" | "connector" | "goal";
                status?: "backlog" | "assigned" | "executing" | "in_review" | "blocked" | "escalated" | "done" | "cancelled";
                text?: string;
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        limit: number;
                        nextCursor: string | null;
                        nextOffset: number | null;
                        offset: number;
                        total: number;
                        totals: {
                            [key: string]: number;
                        };
                        workItems: components["schemas"]["WorkItemRow"][];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/work-items": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    acceptance?: string | null;
                    assignee?: string | null;
                    body?: string | null;
                    /** @description Default: the department of the assignee. */
                    department?: string | null;
                    dueAt?: string | null;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    labels?: string[];
                    /** @description Makes it a sub-task; sub-tasks nest at most 3 deep. */
                    parentId?: string | null;
                    /** @description Truncated to 200 characters. */
                    title: string;
                    verifyPolicy?: components["schemas"]["VerifyPolicy"] | null;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNKNOWN_EMPLOYEE" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "NOT_OWNER" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "TERMINAL" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/work-items/:id": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        events: components["schemas"]["WorkItemEvent"][];
                        spendUsd: number;
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "patch /api/work-items/:id": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    acceptance?: string | null;
                    assignee?: string | null;
                    body?: string | null;
                    department?: string | null;
                    dueAt?: string | null;
                    /** @description Or the header `If-Match: "<version>"`. */
                    expectedVersion?: number;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    priority?: number;
                    rank?: number | null;
                    title?: string;
                    verifyPolicy?: components["schemas"]["VerifyPolicy"] | null;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        replayed: boolean;
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNKNOWN_EMPLOYEE" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "VERSION_CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "PRECONDITION_REQUIRED" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/work-items/:id/approval": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    decision: "approve" | "reject";
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    note?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        escalated: boolean;
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "OWN_APPROVAL" | "NOT_ROUTED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "NO_PENDING_APPROVAL" | "GATE_PARKED" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/work-items/:id/approval/escalate": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "OWN_APPROVAL" | "NOT_ROUTED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "NO_PENDING_APPROVAL" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/work-items/:id/approval/request": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Deadline of the decision; must be in the future. */
                    expiresAt?: string | null;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    /** @description At most 6144 bytes, as JSON in UTF-8. */
                    request: string;
                    /** @description An employee or `operator`; default: the owner's manager, else the root. */
                    target?: string | null;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNKNOWN_EMPLOYEE" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "NOT_OWNER" | "NOT_ROUTED" | "OWN_APPROVAL" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "TERMINAL" | "GATE_PARKED" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/work-items/:id/approvals": {
        parameters: {
            query?: {
                before?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        approvals: components["schemas"]["ApprovalRequest"][];
                        hasOlder: boolean;
                        /** @description `cursor` of the next page; null at the end. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/work-items/:id/archive": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    note?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        archived: true;
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "PERSON_REQUIRED" | "NOT_OWNER" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "TERMINAL" | "GATE_PARKED" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/work-items/:id/assign": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    assignee: string;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNKNOWN_EMPLOYEE" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "NOT_OWNER" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "TERMINAL" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/work-items/:id/attempts": {
        parameters: {
            query?: {
                before?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        attempts: components["schemas"]["Attempt"][];
                        hasOlder: boolean;
                        /** @description `cursor` of the next page; null at the end. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/work-items/:id/children": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        workItems: components["schemas"]["WorkItem"][];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/work-items/:id/comments": {
        parameters: {
            query?: {
                before?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        comments: components["schemas"]["Comment"][];
                        hasOlder: boolean;
                        /** @description `cursor` of the next page; null at the end. */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/work-items/:id/comments": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    text: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        comment: components["schemas"]["Comment"] | null;
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "NOT_OWNER" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "delete /api/work-items/:id/comments/:commentId": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                commentId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        comment: components["schemas"]["Comment"] | null;
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "NOT_OWNER" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "VERSION_CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "patch /api/work-items/:id/comments/:commentId": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                commentId: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    text: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        comment: components["schemas"]["Comment"] | null;
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "NOT_OWNER" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "VERSION_CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/work-items/:id/handoff": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    changedFiles?: string[];
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    retryNotes?: string;
                    /** @description Default: the calling session. */
                    sessionId?: string;
                    summary?: string;
                    verification?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/work-items/:id/labels": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    add?: string[];
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    remove?: string[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "NOT_OWNER" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/work-items/:id/links": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    /** @enum {string} */
                    relation: "blocks" | "blocked_by" | "relates" | "duplicates" | "duplicated_by";
                    workItemId: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "NOT_OWNER" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "delete /api/work-items/:id/links/:relation/:other": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                other: string;
                relation: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "NOT_OWNER" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/work-items/:id/next": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        moves: {
                            allowed: boolean;
                            code?: string;
                            noteNeeded?: boolean;
                            reason?: string;
                            /** @enum {string} */
                            status: "backlog" | "assigned" | "executing" | "in_review" | "blocked" | "escalated" | "done" | "cancelled";
                        }[];
                        operations: {
                            allowed: boolean;
                            code?: string;
                            operation: string;
                            reason?: string;
                        }[];
                        /** @enum {string} */
                        status: "backlog" | "assigned" | "executing" | "in_review" | "blocked" | "escalated" | "done" | "cancelled";
                        workItemId: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/work-items/:id/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"][];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "put /api/work-items/:id/status": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    note?: string;
                    /** @enum {string} */
                    status: "backlog" | "assigned" | "executing" | "in_review" | "blocked" | "escalated" | "done" | "cancelled";
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        escalated: boolean;
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "ILLEGAL_TRANSITION" | "NOTE_REQUIRED" | "ASSIGNEE_REQUIRED" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "TERMINAL" | "GATE_PARKED" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/work-items/:id/status": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    note?: string;
                    /** @enum {string} */
                    status: "backlog" | "assigned" | "executing" | "in_review" | "blocked" | "escalated" | "done" | "cancelled";
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        escalated: boolean;
                        workItem: components["schemas"]["WorkItem"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "ILLEGAL_TRANSITION" | "NOTE_REQUIRED" | "ASSIGNEE_REQUIRED" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "PERSON_REQUIRED" | "SELF_REVIEW" | "NOT_OWNER" | "CANCEL_BY_ARCHIVE" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Engines whose turns here outlive the gateway. Those of all others end with it. */
                        hosted: string[];
                        /** @description Turns at once, in all workers and in the gateway together. */
                        slots: {
                            /** @description Of those that run, by engine. */
                            engines: {
                                [key: string]: number;
                            };
                            max: number;
                            running: number;
                            waiting: number;
                        } | null;
                        workers: components["schemas"]["Worker"][];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        code: string;
                        name: string;
                        /** @constant */
                        status: "ok";
                        ttlSeconds: number;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workers/:id/drain": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workers/:id/remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workers/:id/resume": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workers/join": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    code: string;
                    name: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ok";
                        token: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "PAIRING_CODE_INVALID" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "TOO_MANY" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/workflow-approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        pending: ({
                            approvedBy: string | null;
                            /** @description The latest one before it that was approved. */
                            approvedVersion: number | null;
                            reasons: string[];
                            /** @enum {string} */
                            state: "approved" | "unapproved" | "pending_approval" | "rejected";
                            version: number;
                            writtenBy: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    decision: "approve" | "reject";
                    /** @description Exactly these; of one that has changed meanwhile the outcome names the newest version. */
                    versions: {
                        version: number;
                        workflowId: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        outcomes: ({
                            /** @description With whose rights a version acts. */
                            authority?: {
                                approvedBy: string | null;
                                reasons: string[];
                                /** @enum {string} */
                                state: "approved" | "unapproved" | "pending_approval" | "rejected";
                                version: number;
                                writtenBy: string;
                            } & {
                                [key: string]: unknown;
                            };
                            code?: string;
                            error?: string;
                            version: number;
                            workflowId: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/workflow-definitions": {
        parameters: {
            query?: {
                status?: "active" | "paused" | "retired";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        definitions: ({
                            edgeCount: number;
                            id: string;
                            name: string;
                            nodeCount: number;
                            /** @enum {string} */
                            status: "active" | "paused" | "retired";
                            title: string;
                            /**
                             * Format: date-time
                             * @description ISO-8601, UTC, milliseconds
                             */
                            updatedAt: string;
                            version: number;
                        } & {
                            [key: string]: unknown;
                        })[];
                        evidenceConfigured: boolean;
                        evidenceReason?: string;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-definitions": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    definition?: {
                        [key: string]: unknown;
                    };
                    /** @description The version that was read. If it is outdated: 409 with `currentVersion`. */
                    expectedVersion?: number;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDefinition"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "WORKFLOW_INVALID" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "VERSION_CONFLICT" | "CONFLICT" | "EXISTS" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/workflow-definitions/:id": {
        parameters: {
            query?: {
                version?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDefinition"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "WORKFLOWS_DISABLED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "put /api/workflow-definitions/:id": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    definition?: {
                        [key: string]: unknown;
                    };
                    /** @description The version that was read. If it is outdated: 409 with `currentVersion`. */
                    expectedVersion?: number;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDefinition"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "WORKFLOW_INVALID" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "VERSION_CONFLICT" | "CONFLICT" | "EXISTS" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-definitions/:id/duplicate": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    id?: string;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    name?: string;
                    /** @description The same as `id`. */
                    newId?: string;
                    title?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDefinition"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "WORKFLOW_INVALID" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "VERSION_CONFLICT" | "CONFLICT" | "EXISTS" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-definitions/:id/pause": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The version that was read. If it is outdated: 409 with `currentVersion`. */
                    expectedVersion?: number;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDefinition"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "WORKFLOW_INVALID" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "VERSION_CONFLICT" | "CONFLICT" | "EXISTS" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/workflow-definitions/:id/plan": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        definition: components["schemas"]["WorkflowDefinition"];
                        diff: {
                            [key: string]: unknown;
                        } | null;
                        execution: {
                            ok: boolean;
                        } & {
                            [key: string]: unknown;
                        };
                        layout: {
                            normalizedPreview: components["schemas"]["WorkflowDefinition"];
                        } & {
                            [key: string]: unknown;
                        };
                        liveness: {
                            findings: components["schemas"]["WorkflowFault"][];
                            ok: boolean;
                        };
                        ok: boolean;
                        validation: {
                            errors: components["schemas"]["WorkflowFault"][];
                            ok: boolean;
                        };
                        warnings: components["schemas"]["WorkflowFault"][];
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "WORKFLOWS_DISABLED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-definitions/:id/resume": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The version that was read. If it is outdated: 409 with `currentVersion`. */
                    expectedVersion?: number;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDefinition"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "WORKFLOW_INVALID" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "VERSION_CONFLICT" | "CONFLICT" | "EXISTS" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-definitions/:id/retire": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The version that was read. If it is outdated: 409 with `currentVersion`. */
                    expectedVersion?: number;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDefinition"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "WORKFLOW_INVALID" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "VERSION_CONFLICT" | "CONFLICT" | "EXISTS" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-definitions/:id/run": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    /** @description The input that the definition declares. */
                    input?: unknown;
                    /** @description The session that is notified when the run parks and ends. */
                    report?: {
                        /** @enum {string} */
                        mode: "resume" | "silent";
                        sessionId: string;
                    };
                    /**
                     * @description How the calling session is notified. Default `resume`; `silent`: not at all.
                     * @enum {string}
                     */
                    reportMode?: "resume" | "silent";
                    /** @description Prompts by step that replace those of the definition, for this run only: `{"draft": {"prompt": "Be brief."}}`. */
                    stepOverrides?: {
                        [key: string]: {
                            prompt: string;
                        };
                    };
                    /** @description The work item that shows the approval gates of the run. */
                    workItemId?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRun"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RUN_FAILED" | "QUEUE_FULL" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/workflow-definitions/:id/runs": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
                offset?: string;
                status?: "running" | "parked" | "completed" | "failed" | "cancelled";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        evidenceConfigured: boolean;
                        evidenceReason?: string;
                        limit: number;
                        /** @description `cursor` of the next page; null at the end. */
                        nextCursor: string | null;
                        nextOffset: number | null;
                        offset: number;
                        runs: ({
                            endedAt: string | null;
                            runId: string;
                            /**
                             * Format: date-time
                             * @description ISO-8601, UTC, milliseconds
                             */
                            startedAt: string;
                            /** @enum {string} */
                            status: "running" | "parked" | "completed" | "failed" | "cancelled";
                            workflowId: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/workflow-definitions/:id/runs/:runId": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRun"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "WORKFLOWS_DISABLED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-definitions/:id/runs/:runId/cancel": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRun"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "NOT_ROUTED" | "OWN_APPROVAL" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "NO_PENDING_APPROVAL" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-definitions/:id/runs/:runId/gate-approval/escalate": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRun"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "NOT_ROUTED" | "OWN_APPROVAL" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "NO_PENDING_APPROVAL" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "patch /api/workflow-definitions/:id/runs/:runId/pending-steps/:nodeId": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                nodeId: string;
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    prompt: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRun"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "NOT_ROUTED" | "OWN_APPROVAL" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "NO_PENDING_APPROVAL" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/workflow-definitions/:id/runs/:runId/receipts": {
        parameters: {
            query?: {
                after?: string;
                cursor?: string;
                limit?: string;
            };
            header?: never;
            path: {
                id: string;
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        nextAfter: number | null;
                        /** @description `cursor` of the next page; null at the end. */
                        nextCursor: string | null;
                        receipts: components["schemas"]["WorkflowReceipt"][];
                        total: number;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "WORKFLOWS_DISABLED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-definitions/:id/runs/:runId/rerun": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    input?: unknown;
                    nodeId: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRun"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "NOT_ROUTED" | "OWN_APPROVAL" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "NO_PENDING_APPROVAL" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-definitions/:id/runs/:runId/resolve-gate": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    decision: "approve" | "reject";
                    /** @description Required if several gates are parked. */
                    gateKey?: string;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    note?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRun"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "NOT_ROUTED" | "OWN_APPROVAL" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "NO_PENDING_APPROVAL" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-definitions/:id/runs/:runId/steps/:nodeId/output": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                nodeId: string;
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    artifacts?: string[];
                    fields?: {
                        [key: string]: unknown;
                    };
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    notes?: string;
                    summary?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRun"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "NOT_ROUTED" | "OWN_APPROVAL" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "NO_PENDING_APPROVAL" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/workflow-definitions/:id/versions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        versions: ({
                            /** @enum {string} */
                            status: "active" | "paused" | "retired";
                            title: string;
                            /**
                             * Format: date-time
                             * @description ISO-8601, UTC, milliseconds
                             */
                            updatedAt: string;
                            version: number;
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "WORKFLOWS_DISABLED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-definitions/mutate": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A graph: {title, name?, owner?, department?, description?, concurrency? (1-8), input? (JSON Schema), loop? {maxRoundsPerRun, stopWhen (conditions), maxRuns and until (of a schedule)}, nodes, edges}. Nodes {id, type, label?}: trigger {trigger: {kind: manual} | {kind: schedule, cron, timezone} | {kind: todo-status-change, toStatus, fromStatus?, filter?}}; step {actor, instructions?, gates?, optional?, output? (JSON Schema of outcome.fields), options? {model, effort, retry {maxAttempts 1-5, on [error, no-output, interrupted, timeout]}, onError: fail-run | continue | error-edge, timeoutMinutes}}; gate {gate: {kind: approval | artifact | flag, approvalRef | glob | flag, description}}; switch {switchMode: firstMatch | allMatches}; wait {waitMinutes | waitUntil}; merge {mode: all | any}; fail {failMessage}; end {result? {name: path}}. Actors: {kind: employee | engine, ref}, {kind: noop}, {kind: connector-send, connector, channel, text}, {kind: http, method, url, headers?, body?}, {kind: work-item, operation, id?, fields}, {kind: workflow, workflowId, input?}. Edges {id?, from, to, kind?: sequence | handoff | loop, lane?: error, when?, maxRounds? (of a loop)}. when: [{path, op, value?}], all must hold; op: eq ne gt gte lt lte contains startsWith matches (linear time) exists absent; paths: steps.<id>.status, steps.<id>.outcome.summary|notes|finalMessage|artifacts|fields.<key>, run.rounds, trigger.payload.<key>, input.<key>. Texts may hold {{path}}. Every node must be reachable, a switch needs an edge without conditions, a way back is a loop with a ceiling. Without a trigger a manual one is added. */
                    definition?: {
                        [key: string]: unknown;
                    };
                    /** @description The version that was read. If it is outdated: 409 with `currentVersion`. */
                    expectedVersion?: number;
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    /** @enum {string} */
                    operation: "create" | "update";
                    /** @description Members of the definition to replace entirely, e.g. title, status, nodes, edges, loop, concurrency. */
                    patch?: {
                        [key: string]: unknown;
                    };
                    sop?: {
                        [key: string]: unknown;
                    };
                    workflowId?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        definition: components["schemas"]["WorkflowDefinition"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "WORKFLOW_INVALID" | "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "VERSION_CONFLICT" | "CONFLICT" | "EXISTS" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-definitions/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description A graph: {title, name?, owner?, department?, description?, concurrency? (1-8), input? (JSON Schema), loop? {maxRoundsPerRun, stopWhen (conditions), maxRuns and until (of a schedule)}, nodes, edges}. Nodes {id, type, label?}: trigger {trigger: {kind: manual} | {kind: schedule, cron, timezone} | {kind: todo-status-change, toStatus, fromStatus?, filter?}}; step {actor, instructions?, gates?, optional?, output? (JSON Schema of outcome.fields), options? {model, effort, retry {maxAttempts 1-5, on [error, no-output, interrupted, timeout]}, onError: fail-run | continue | error-edge, timeoutMinutes}}; gate {gate: {kind: approval | artifact | flag, approvalRef | glob | flag, description}}; switch {switchMode: firstMatch | allMatches}; wait {waitMinutes | waitUntil}; merge {mode: all | any}; fail {failMessage}; end {result? {name: path}}. Actors: {kind: employee | engine, ref}, {kind: noop}, {kind: connector-send, connector, channel, text}, {kind: http, method, url, headers?, body?}, {kind: work-item, operation, id?, fields}, {kind: workflow, workflowId, input?}. Edges {id?, from, to, kind?: sequence | handoff | loop, lane?: error, when?, maxRounds? (of a loop)}. when: [{path, op, value?}], all must hold; op: eq ne gt gte lt lte contains startsWith matches (linear time) exists absent; paths: steps.<id>.status, steps.<id>.outcome.summary|notes|finalMessage|artifacts|fields.<key>, run.rounds, trigger.payload.<key>, input.<key>. Texts may hold {{path}}. Every node must be reachable, a switch needs an edge without conditions, a way back is a loop with a ceiling. Without a trigger a manual one is added. */
                    definition?: {
                        [key: string]: unknown;
                    };
                    patch?: {
                        [key: string]: unknown;
                    };
                    /** @description Or a procedure: `{title, wakeUp?, steps: [{title, employee | engine, instructions}]}`. */
                    sop?: {
                        [key: string]: unknown;
                    };
                    /** @description Or a stored definition to change, with `patch`. */
                    workflowId?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        definition: components["schemas"]["WorkflowDefinition"];
                        diff: {
                            [key: string]: unknown;
                        } | null;
                        execution: {
                            ok: boolean;
                        } & {
                            [key: string]: unknown;
                        };
                        layout: {
                            normalizedPreview: components["schemas"]["WorkflowDefinition"];
                        } & {
                            [key: string]: unknown;
                        };
                        liveness: {
                            findings: components["schemas"]["WorkflowFault"][];
                            ok: boolean;
                        };
                        ok: boolean;
                        validation: {
                            errors: components["schemas"]["WorkflowFault"][];
                            ok: boolean;
                        };
                        warnings: components["schemas"]["WorkflowFault"][];
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "WORKFLOWS_DISABLED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-events": {
        parameters: {
            query?: never;
            header?: {
                /** @description The secret of a webhook binding. */
                "x-svc-workflow-event-token"?: string;
                /** @description `t=<unix seconds>,v1=<hex>`: HMAC-SHA256, under the binding's secret, of `<unix seconds>.<the body as it is sent>`. Valid for 300 s; the same signature never starts two runs. */
                "x-svc-workflow-signature"?: string;
                /** @description The name of a webhook binding with signed events. */
                "x-svc-workflow-trigger"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    event: string;
                    /** @description Identifies this occurrence: a repeated event with the same value starts no new run. */
                    fireRef?: string;
                    /** @description At most 64 KiB. */
                    payload: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        outcomes: ({
                            /**
                             * @description refused: with `code` and `reason`; only in answers with several outcomes.
                             * @enum {string}
                             */
                            outcome: "started" | "missing-workflow" | "refused";
                            triggerName: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NO_BINDING" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "TOO_MANY" | "QUEUE_FULL" | "AGENT_QUOTA" | "WORKFLOWS_DISABLED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/workflow-runs": {
        parameters: {
            query?: {
                cursor?: string;
                limit?: string;
                offset?: string;
                status?: "running" | "parked" | "completed" | "failed" | "cancelled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        evidenceConfigured: boolean;
                        evidenceReason?: string;
                        limit: number;
                        /** @description `cursor` of the next page; null at the end. */
                        nextCursor: string | null;
                        nextOffset: number | null;
                        offset: number;
                        runs: ({
                            endedAt: string | null;
                            runId: string;
                            /**
                             * Format: date-time
                             * @description ISO-8601, UTC, milliseconds
                             */
                            startedAt: string;
                            /** @enum {string} */
                            status: "running" | "parked" | "completed" | "failed" | "cancelled";
                            workflowId: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-runs/by-name": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    /** @description The input that the definition declares. */
                    input?: unknown;
                    name: string;
                    /** @description The session that is notified when the run parks and ends. */
                    report?: {
                        /** @enum {string} */
                        mode: "resume" | "silent";
                        sessionId: string;
                    };
                    /**
                     * @description How the calling session is notified. Default `resume`; `silent`: not at all.
                     * @enum {string}
                     */
                    reportMode?: "resume" | "silent";
                    /** @description Prompts by step that replace those of the definition, for this run only: `{"draft": {"prompt": "Be brief."}}`. */
                    stepOverrides?: {
                        [key: string]: {
                            prompt: string;
                        };
                    };
                    /** @description The work item that shows the approval gates of the run. */
                    workItemId?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowRun"];
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RUN_FAILED" | "QUEUE_FULL" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/workflow-triggers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        evidenceConfigured: boolean;
                        evidenceReason?: string;
                        triggers: components["schemas"]["Trigger"][];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-triggers": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Of a poll: the absolute path of the program, and its arguments. It prints `{"fire": true, "payload": {…}, "fireRef": "…"}` to fire. */
                    command?: string[];
                    event: string;
                    /** @description All rules must match the payload; `matches` takes linear time. */
                    filter?: {
                        /** @enum {string} */
                        op: "equals" | "notEquals" | "exists" | "matches";
                        path: string;
                        /** @default null */
                        value?: string | number | boolean | null;
                    }[];
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    /** @description Of a poll. Default 300. */
                    intervalSeconds?: number;
                    /**
                     * @description `webhook`: the event is posted. `poll`: a program on this machine checks for it, once a person has approved the program.
                     * @enum {string}
                     */
                    kind: "webhook" | "poll";
                    /** @description The permanent name of the binding; also used in the path that deletes it. */
                    name: string;
                    /**
                     * @description Events of this webhook are signed with the secret. Default: they contain the secret.
                     * @enum {string}
                     */
                    signature?: "hmac-sha256";
                    /** @description Of a poll: of longer output only the end is kept. Default: the maximum. */
                    stderrMaxBytes?: number;
                    /** @description Of a poll: more output is a failure. Default: the maximum. */
                    stdoutMaxBytes?: number;
                    targetWorkflowId: string;
                    /** @description Of a poll. Default 30,000. */
                    timeoutMs?: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description This is a replay: the secret was only in the first answer.
                         * @constant
                         */
                        secretOmitted?: true;
                        secretToken?: string;
                        trigger: components["schemas"]["Trigger"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "PERSON_REQUIRED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "EXISTS" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "WORKFLOWS_DISABLED" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "delete /api/workflow-triggers/:name": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        deleted: true;
                        name: string;
                        /** @constant */
                        orphaned?: true;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "PERSON_REQUIRED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-triggers/:name/activation-approval": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Of the reviewed contract; if it has changed since, the decision is refused. */
                    activationContractHash?: string;
                    /** @enum {string} */
                    decision: "approve" | "reject";
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    note?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        trigger: components["schemas"]["Trigger"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /api/workflow-triggers/:name/activation-approval/escalate": {
        parameters: {
            query?: {
                dryRun?: "true" | "false";
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Same namespace as the header Idempotency-Key; kept for 24 h. */
                    idempotencyKey?: string;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        trigger: components["schemas"]["Trigger"];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "IDEMPOTENCY_KEYS_DIFFER" | "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "OUTCOME_UNKNOWN" | "DRAINING" | "ACTOR_HALTED" | "STORE_UNAVAILABLE" | "OWNER_ELSEWHERE" | "DISK_LOW" | "BUSY";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /api/workflows": {
        parameters: {
            query?: {
                status?: "active" | "paused" | "retired";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        definitions: ({
                            edgeCount: number;
                            id: string;
                            name: string;
                            nodeCount: number;
                            /** @enum {string} */
                            status: "active" | "paused" | "retired";
                            title: string;
                            /**
                             * Format: date-time
                             * @description ISO-8601, UTC, milliseconds
                             */
                            updatedAt: string;
                            version: number;
                        } & {
                            [key: string]: unknown;
                        })[];
                        evidenceConfigured: boolean;
                        evidenceReason?: string;
                        workflows: ({
                            edgeCount: number;
                            id: string;
                            name: string;
                            nodeCount: number;
                            /** @enum {string} */
                            status: "active" | "paused" | "retired";
                            title: string;
                            /**
                             * Format: date-time
                             * @description ISO-8601, UTC, milliseconds
                             */
                            updatedAt: string;
                            version: number;
                        } & {
                            [key: string]: unknown;
                        })[];
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /console/:name": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /docs/:name": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /inspect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /inspect/:name": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "post /mcp": {
        parameters: {
            query?: {
                tools?: "all";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id?: unknown;
                    /** @constant */
                    jsonrpc: "2.0";
                    method?: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "BAD_REQUEST" | "DRY_RUN_UNSUPPORTED" | "UNAUTHENTICATED" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "AGENT_QUOTA" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "UNAUTHENTICATED" | "FORBIDDEN" | "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /pair": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    "get /push-worker.js": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/javascript": string;
                };
            };
            /** @description Refused. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        code: "HOST_REFUSED" | "ORIGIN_REFUSED" | "CROSS_SITE_REFUSED" | "NOT_FOUND" | "DRAINING";
                        error: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
}

/** What `GET /ws` announces. */
export type EventName = 'session:created' | 'session:started' | 'session:delta' | 'session:completed' | 'session:interrupted' | 'session:silent' | 'session:resumed' | 'sessions:interrupted' | 'session:rate-limited' | 'session:stopped' | 'session:updated' | 'session:deleted' | 'session:notification' | 'session:attachment' | 'session:external-turn' | 'session:permission' | 'decision:held' | 'decision:withdrawn' | 'decision:carried-out' | 'decision:refused' | 'queue:updated' | 'company:changed' | 'run:started' | 'run:step' | 'run:running' | 'run:parked' | 'run:resumed' | 'run:completed' | 'run:failed' | 'run:cancelled' | 'cron:reloaded' | 'cron:started' | 'cron:completed' | 'cron:error' | 'cron:missed' | 'connector:updated' | 'connector:delivery' | 'connectors:reloaded' | 'org:updated' | 'org:changed' | 'skills:updated' | 'skills:changed' | 'file:uploaded' | 'file:deleted' | 'engines:updated' | 'budget:warning' | 'budget:granted' | 'config:reloaded' | 'config:refused' | 'backup:made' | 'backup:failed' | 'backup:off' | 'device:paired' | 'device:revoked' | 'system:status' | 'refusal' | 'cursor' | 'reset' | 'pong' | 'error';

/** Operations that an idempotency key makes safe to repeat. */
export const keyedOperations: ReadonlySet<string> = new Set([
  "POST /api/work-items",
  "PATCH /api/work-items/{id}",
  "POST /api/work-items/{id}/assign",
  "POST /api/work-items/{id}/status",
  "PUT /api/work-items/{id}/status",
  "POST /api/work-items/{id}/archive",
  "POST /api/work-items/{id}/comments",
  "PATCH /api/work-items/{id}/comments/{commentId}",
  "DELETE /api/work-items/{id}/comments/{commentId}",
  "POST /api/work-items/{id}/labels",
  "POST /api/work-items/{id}/links",
  "DELETE /api/work-items/{id}/links/{relation}/{other}",
  "POST /api/work-items/{id}/handoff",
  "POST /api/work-items/{id}/approval/request",
  "POST /api/work-items/{id}/approval",
  "POST /api/work-items/{id}/approval/escalate",
  "PATCH /api/sessions/{id}",
  "PUT /api/sessions/{id}",
  "DELETE /api/sessions/{id}",
  "POST /api/sessions/{id}/duplicate",
  "POST /api/sessions/{id}/reset",
  "POST /api/sessions/{id}/resume",
  "POST /api/sessions/{id}/archive",
  "POST /api/sessions/{id}/unarchive",
  "DELETE /api/sessions/{id}/queue",
  "POST /api/sessions/{id}/queue/pause",
  "POST /api/sessions/{id}/queue/resume",
  "DELETE /api/sessions/{id}/queue/{item}",
  "POST /api/sessions/{id}/queue/{item}/move",
  "PUT /api/sessions/{id}/permissions",
  "POST /api/sessions/{id}/permissions/{permission}",
  "POST /api/sessions",
  "POST /api/sessions/{id}/message",
  "POST /api/sessions/{id}/stop",
  "POST /api/delegations",
  "POST /api/connectors/{name}/send",
  "POST /api/connectors/{name}/deliveries/{deliveryId}/settle",
  "POST /api/workflow-triggers",
  "DELETE /api/workflow-triggers/{name}",
  "POST /api/workflow-triggers/{name}/activation-approval",
  "POST /api/workflow-triggers/{name}/activation-approval/escalate",
  "POST /api/cron",
  "PUT /api/cron/{id}",
  "DELETE /api/cron/{id}",
  "POST /api/cron/{id}/trigger",
  "POST /api/inspect/actors/{kind}/{id}/send",
  "POST /api/held-decisions",
  "DELETE /api/held-decisions/{id}",
  "POST /api/org/employees/{name}/budget",
  "POST /api/files",
  "POST /api/sessions/{id}/attachments",
  "POST /api/workflow-definitions",
  "POST /api/workflow-definitions/mutate",
  "PUT /api/workflow-definitions/{id}",
  "POST /api/workflow-definitions/{id}/duplicate",
  "POST /api/workflow-definitions/{id}/retire",
  "POST /api/workflow-definitions/{id}/pause",
  "POST /api/workflow-definitions/{id}/resume",
  "POST /api/workflow-definitions/{id}/run",
  "POST /api/workflow-runs/by-name",
  "POST /api/workflow-definitions/{id}/runs/{runId}/resolve-gate",
  "POST /api/workflow-definitions/{id}/runs/{runId}/gate-approval/escalate",
  "POST /api/workflow-definitions/{id}/runs/{runId}/cancel",
  "PATCH /api/workflow-definitions/{id}/runs/{runId}/pending-steps/{nodeId}",
  "POST /api/workflow-definitions/{id}/runs/{runId}/steps/{nodeId}/output",
  "POST /api/workflow-definitions/{id}/runs/{runId}/rerun"
]);
