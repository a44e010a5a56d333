{{/* At most 50 characters: Kubernetes and the other templates append to it, and labels have 63. */}}
{{- define "agent-server.name" -}}
{{- $name := .Release.Name -}}
{{- if not (contains .Chart.Name $name) }}{{ $name = printf "%s-%s" (trunc 37 $name | trimSuffix "-") .Chart.Name }}{{ end -}}
{{- trunc 50 $name | trimSuffix "-" -}}
{{- end }}

{{- define "agent-server.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "agent-server.labels" -}}
{{ include "agent-server.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "agent-server.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "agent-server.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "agent-server.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{/* Numbers of a values file are floats, which `quote` would print as 1e+06. */}}
{{- define "agent-server.env" -}}
{{- range $name, $value := .Values.env }}
- { name: {{ $name }}, value: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }} }
{{- end }}
{{- end }}

{{/* What every pod of the release has in its spec: who it is, and where it may be placed. */}}
{{- define "agent-server.podSpec" -}}
automountServiceAccountToken: false
# Variables of a Service called langgraph-server would be taken for settings.
enableServiceLinks: false
securityContext:
  {{- include "agent-server.podSecurityContext" . | nindent 2 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The pod of a component. role: of the server; settings: the component's values; volume: whether /data is kept. */}}
{{- define "agent-server.pod" -}}
{{- $values := .root.Values -}}
{{- $grace := int .settings.graceSeconds -}}
metadata:
  labels:
    {{- include "agent-server.labels" . | nindent 4 }}
  {{- with $values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "agent-server.podSpec" .root | nindent 2 }}
  # The pause before the signal, the runs, and time to close.
  terminationGracePeriodSeconds: {{ add $grace 20 }}
  containers:
    - name: agent-server
      image: {{ include "agent-server.image" .root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      ports:
        - { name: http, containerPort: 8123 }
      securityContext:
        {{- include "agent-server.securityContext" .root | nindent 8 }}
      envFrom:
        - secretRef: { name: {{ $values.secretName }} }
      env:
        - { name: PORT, value: "8123" }
        - { name: AGENT_SERVER_ROLE, value: {{ .role }} }
        - { name: BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS, value: {{ $grace | quote }} }
        {{- if and (eq $values.database "postgres") $values.migrations.enabled }}
        - { name: AGENT_SERVER_DATABASE_MIGRATIONS, value: wait }
        {{- end }}
        {{- include "agent-server.env" .root | nindent 8 }}
      # Until graphs are loaded and the database answers, for up to ten minutes.
      startupProbe:
        httpGet: { path: "/ok?check_db=1", port: http }
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 300
      # 503 while the pod drains. Not for the database: without it, clients get 503 with Retry-After, not refused connections.
      readinessProbe:
        httpGet: { path: /ok, port: http }
        periodSeconds: 5
        timeoutSeconds: 5
      # 503 when nothing makes progress. It fails only after longer than a node may compute.
      livenessProbe:
        httpGet: { path: "/ok?live=1", port: http }
        periodSeconds: 10
        timeoutSeconds: 10
        failureThreshold: 6
      lifecycle:
        preStop:
          # Proxies learn meanwhile that this pod stops.
          exec: { command: [sleep, "{{ min 5 $grace }}"] }
      resources:
        {{- toYaml .settings.resources | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
  volumes:
    - { name: tmp, emptyDir: {} }
    {{- if not .volume }}
    - { name: data, emptyDir: {} }
    {{- end }}
  {{- if not (or $values.affinity .volume) }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "agent-server.selector" . | nindent 10 }}
  {{- end }}
{{- end }}

{{/* The component that answers requests. */}}
{{- define "agent-server.front" -}}
{{ eq .Values.database "sqlite" | ternary "server" "api" }}
{{- end }}
