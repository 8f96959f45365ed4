{{- define "mnemic.labels" -}}
app.kubernetes.io/name: mnemic
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "mnemic.metadata" -}}
labels: {{- include "mnemic.labels" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .component }}
annotations:
  checksum/settings: {{ include (print .root.Template.BasePath "/settings.yaml") .root | sha256sum }}
{{- end -}}

{{- define "mnemic.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
envFrom:
  - configMapRef: { name: {{ .Release.Name }}-settings }
  - secretRef: { name: {{ .Values.existingSecret }} }
resources: {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  {{- if .Values.policy }}
  - { name: policy, mountPath: /etc/mnemic, readOnly: true }
  {{- end }}
{{- end -}}

{{- define "mnemic.pod" -}}
automountServiceAccountToken: false
# Kubernetes would set MNEMIC_SERVICE_PORT and more for a service that is called mnemic.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
volumes:
  - { name: tmp, emptyDir: {} }
  {{- if .Values.policy }}
  - name: policy
    configMap:
      name: {{ .Release.Name }}-settings
      items: [{ key: policy.toml, path: policy.toml }]
  {{- end }}
{{- end -}}
