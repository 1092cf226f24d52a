{{/* Name of the chart, without the release. */}}
{{- define "pidq.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 44 | trimSuffix "-" -}}
{{- end -}}

{{/* Name of the release's objects. Names of services, and of jobs in labels, have at most 63 characters, and the longest suffix
has 17. */}}
{{- define "pidq.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 44 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "pidq.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 44 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 44 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "pidq.image" -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}

{{- define "pidq.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "pidq.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of a component: a dict of root and component. */}}
{{- define "pidq.selector" -}}
app.kubernetes.io/name: {{ include "pidq.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "pidq.labels" -}}
{{ include "pidq.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* "yes" if all data is in SQLite files of one process; else empty. */}}
{{- define "pidq.embedded" -}}
{{- if not (or .Values.config.database.url .Values.secrets.existingSecretHasDatabaseUrl) -}}yes{{- end -}}
{{- end -}}

{{/* Value of a setting as text, empty if it is not set: a dict of root and setting. */}}
{{- define "pidq.setting" -}}
{{- $value := .root.Values -}}
{{- range .setting.path -}}
{{- if kindIs "map" $value -}}
{{- $value = get $value . -}}
{{- end -}}
{{- end -}}
{{- if kindIs "bool" $value -}}
{{- ternary "on" "off" $value -}}
{{- else if kindIs "slice" $value -}}
{{- join "," $value -}}
{{- else if kindIs "float64" $value -}}
{{- /* Integers of a file are floats too: without exponents. */ -}}
{{- if eq $value (floor $value) -}}{{- int64 $value -}}{{- else -}}{{- $value -}}{{- end -}}
{{- else if not (or (kindIs "map" $value) (kindIs "invalid" $value)) -}}
{{- $value -}}
{{- end -}}
{{- end -}}

{{/* Secrets that are generated at the first installation: the key and a new value. */}}
{{- define "pidq.generated" -}}
PIDQ_APP_SECRET: {{ randAlphaNum 48 | quote }}
PIDQ_APP_MASTER_KEY: {{ uuidv4 | quote }}
PIDQ_APP_MASTER_SECRET: {{ randAlphaNum 48 | quote }}
PIDQ_ADMIN_PASSWORD: {{ randAlphaNum 24 | quote }}
PIDQ_CLIENT_SECRET: {{ printf "pidq_cs_%s" (randAlphaNum 48) | quote }}
{{- end -}}

{{/* "yes" if a pod must not start without a secret: the name of a variable. Without the URL, the data would be in files that are
lost with the pod. */}}
{{- define "pidq.required" -}}
{{- if has . (list "PIDQ_DATABASE_URL" "PIDQ_STORE_URL" "PIDQ_APP_SECRET" "PIDQ_APP_MASTER_KEY" "PIDQ_APP_MASTER_SECRET") -}}yes{{- end -}}
{{- end -}}

{{/* Variables of a process: a dict of root and component. Secrets of the values are in the Secret of the release; the
others are in the existing Secret, if there is one. */}}
{{- define "pidq.env" -}}
{{- $root := .root -}}
{{- $component := .component -}}
{{- $own := include "pidq.fullname" $root -}}
{{- $other := default $own $root.Values.secrets.existingSecret -}}
{{- $embedded := include "pidq.embedded" $root -}}
- {name: PIDQ_INSECURE_HTTP, value: "on"}
- {name: PIDQ_LOG_FORMAT, value: json}
{{- if eq $component "dashboard" }}
- {name: PIDQ_DASHBOARD_LISTEN, value: "0.0.0.0:3000"}
- {name: PIDQ_ADMIN_LISTEN, value: ""}
- {name: PIDQ_API_URL, value: "http://{{ $own }}-api:{{ $root.Values.service.port }}"}
- {name: PIDQ_CLIENT_ID, value: {{ dig "auth" "clientId" "pidq" $root.Values.config | quote }}}
{{- else }}
- {name: PIDQ_DATA_DIR, value: /data}
- {name: PIDQ_MODEL_DIR, value: /models}
- {name: PIDQ_ADMIN_LISTEN, value: "0.0.0.0:9464"}
{{- end }}
{{- if eq $component "api" }}
- {name: PIDQ_LISTEN, value: "0.0.0.0:8000"}
- {name: PIDQ_DASHBOARD_LISTEN, value: ""}
{{- if $embedded }}
- {name: PIDQ_DATABASE_URL, value: "sqlite:/data/pidq.db"}
{{- else if gt (int $root.Values.worker.replicas) 0 }}
- {name: PIDQ_WORKERS, value: "0"}
{{- end }}
{{- end }}
{{- range $root.Files.Get "settings.json" | fromJsonArray }}
{{- $value := include "pidq.setting" (dict "root" $root "setting" .) }}
{{- $key := .env }}
{{- if and (eq .env "PIDQ_STORE_URL") (eq $value "") }}
{{- /* Graphs are in the database of the accounts, unless they have one of their own. */}}
{{- $key = "PIDQ_DATABASE_URL" }}
{{- $value = dig "database" "url" "" $root.Values.config }}
{{- end }}
{{- if and .secret (has $component .for) (not (and $embedded (eq $key "PIDQ_DATABASE_URL"))) }}
- name: {{ .env }}
  valueFrom:
    secretKeyRef: {name: {{ ternary $own $other (ne $value "") }}, key: {{ $key }}, optional: {{ not (include "pidq.required" .env) }}}
{{- end }}
{{- end }}
{{- with $root.Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* What every pod has: a dict of root and component. */}}
{{- define "pidq.pod" -}}
{{- $root := .root -}}
serviceAccountName: {{ include "pidq.serviceAccount" $root }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- if $root.Values.topologySpread.enabled }}
topologySpreadConstraints:
{{- $selector := include "pidq.selector" . }}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: {{ $root.Values.topologySpread.whenUnsatisfiable }}
    labelSelector:
      matchLabels: {{ $selector | nindent 8 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Image and confinement of every container. */}}
{{- define "pidq.confined" -}}
image: {{ include "pidq.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{/* Container of a process: a dict of root and component. */}}
{{- define "pidq.container" -}}
{{ include "pidq.confined" .root }}
envFrom:
  - configMapRef: {name: {{ include "pidq.fullname" .root }}-{{ .component }}}
env: {{ include "pidq.env" . | nindent 2 }}
{{- end -}}

{{/* Metadata of a pod template: a dict of root and component. The checksum restarts pods when settings change. */}}
{{- define "pidq.podMetadata" -}}
labels: {{ include "pidq.labels" . | nindent 2 }}
{{- with .root.Values.podLabels }}
{{ toYaml . | nindent 2 }}
{{- end }}
annotations:
  checksum/settings: {{ printf "%s%s" (toJson .root.Values.config) (toJson .root.Values.secrets) | sha256sum }}
{{- with .root.Values.podAnnotations }}
{{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Volumes of a process with data: a dict of root, component, and whether it has the volume of the data. */}}
{{- define "pidq.volumes" -}}
{{- $values := .root.Values -}}
- name: tmp
  emptyDir: {sizeLimit: {{ $values.scratch.size }}}
- name: data
{{- if and .persistent $values.persistence.enabled }}
  persistentVolumeClaim:
    claimName: {{ default (printf "%s-data" (include "pidq.fullname" .root)) $values.persistence.existingClaim }}
{{- else }}
  emptyDir: {sizeLimit: {{ $values.scratch.size }}}
{{- end }}
- name: models
{{- if $values.models.imageVolume.reference }}
{{- if and (semverCompare "<1.35.0-0" .root.Capabilities.KubeVersion.Version) (not $values.models.imageVolume.featureGateEnabled) }}
{{- fail "models.imageVolume needs the feature gate ImageVolume before Kubernetes 1.35: enable it in the cluster and set models.imageVolume.featureGateEnabled=true, or use models.existingClaim" }}
{{- end }}
  image:
    reference: {{ $values.models.imageVolume.reference | quote }}
    pullPolicy: {{ $values.models.imageVolume.pullPolicy }}
{{- else if $values.models.existingClaim }}
  persistentVolumeClaim: {claimName: {{ $values.models.existingClaim }}, readOnly: true}
{{- else }}
  emptyDir: {}
{{- end }}
{{- with $values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "pidq.volumeMounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: data, mountPath: /data}
- {name: models, mountPath: /models, readOnly: true}
{{- with .root.Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Container that updates the tables before the process starts: a dict of root, component and resources. It has those of the
process, which adds nothing to what the pod requests, and satisfies quotas of the namespace. */}}
{{- define "pidq.migrations" -}}
{{- if .root.Values.migrations.enabled }}
initContainers:
  - name: migrate
    args: [migrate]
    {{- include "pidq.container" . | nindent 4 }}
    resources: {{ toYaml .resources | nindent 6 }}
    volumeMounts: {{ include "pidq.volumeMounts" . | nindent 6 }}
{{- end }}
{{- end -}}

{{/* Name of the job that prints the system id. A job cannot be changed: other values and other versions make another one, also
where `helm template` renders the chart and every revision is the first. */}}
{{- define "pidq.licenseJob" -}}
{{- $content := printf "%s %s %s" (toJson .Values) .Chart.Version .Chart.AppVersion -}}
{{- printf "%s-license-%s" (include "pidq.fullname" .) ($content | sha256sum | trunc 8) -}}
{{- end -}}
